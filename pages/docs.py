"""The documentation: what the words mean, and how everything is used."""

from dashboard import documents, navigation, state

navigation.require()
documents.show(state.read())
