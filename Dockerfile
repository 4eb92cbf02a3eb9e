# Rollscope with every extra. compose.yaml starts the dashboard and a server of grades from it.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim

RUN --mount=type=bind,source=requirements.txt,target=/requirements.txt \
    pip install --no-cache-dir --requirement /requirements.txt
RUN --mount=type=bind,target=/source \
    pip install --no-cache-dir --no-deps --no-build-isolation /source

# All that it writes, caches too, is below the folder that a volume is mounted at.
RUN useradd --uid 1000 --home-dir /work --create-home rollscope
USER rollscope
WORKDIR /work
ENV XDG_CACHE_HOME=/work/.cache

ENTRYPOINT ["rollscope"]
CMD ["doctor"]
