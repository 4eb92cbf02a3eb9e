"""The code blocks of the page "Building Custom Resource Servers", as they stand there and in their order.

Source: the page of that name in the documentation of NeMo Gym (https://github.com/NVIDIA-NeMo/Gym, Apache-2.0),
`tutorials-custom-resource-server`, of the releases whose commands begin with `ng_`.
"""

# ruff: noqa: E501, W293

SETUP = """\
# 1. Create directory structure
mkdir -p resources_servers/my_task/{configs,data,tests}

# 2. Copy and adapt from existing server
cp resources_servers/simple_weather/app.py resources_servers/my_task/
cp resources_servers/simple_weather/configs/simple_weather.yaml \\
   resources_servers/my_task/configs/my_task.yaml

# 3. Update configuration with your server name
# Edit configs/my_task.yaml and replace names
"""

STRUCTURE = """\
resources_servers/my_task/
├── app.py                          # Server implementation
├── configs/
│   └── my_task.yaml                # Server configuration
├── data/
│   ├── train.jsonl                 # Training dataset
│   ├── validation.jsonl            # Validation dataset
│   └── example.jsonl               # Example prompts
├── tests/
│   └── test_app.py                 # Server tests
└── requirements.txt                # Optional dependencies
"""

SERVER = '''\
from pydantic import BaseModel
from nemo_gym.base_resources_server import (
    BaseResourcesServer,
    BaseVerifyRequest,
    BaseVerifyResponse,
)

# Define your tool's input/output schemas
class MyToolRequest(BaseModel):
    input_text: str

class MyToolResponse(BaseModel):
    result: str

# Define your resource server
class MyTaskResourcesServer(BaseResourcesServer):
    async def my_tool(self, body: MyToolRequest) -> MyToolResponse:
        """Your custom tool implementation."""
        # TODO: Implement your tool logic
        result = f"Processed: {body.input_text}"
        return MyToolResponse(result=result)
    
    async def verify(
        self, body: BaseVerifyRequest
    ) -> BaseVerifyResponse:
        """Verification logic that scores agent performance."""
        # TODO: Implement verification logic
        reward = 1.0  # Replace with actual scoring
        return BaseVerifyResponse(**body.model_dump(), reward=reward)

# Required: Create server instance
server = MyTaskResourcesServer()
'''

EXTERNAL_API = """\
import httpx

async def fetch_data(self, body: FetchRequest) -> FetchResponse:
    async with httpx.AsyncClient() as client:
        response = await client.get(
            f"https://api.example.com/data/{body.query}"
        )
        data = response.json()
    return FetchResponse(data=data)
"""

DATABASE = """\
import asyncpg

async def query_database(self, body: QueryRequest) -> QueryResponse:
    conn = await asyncpg.connect('postgresql://...')
    result = await conn.fetch(
        'SELECT * FROM table WHERE id = $1',
        body.record_id
    )
    await conn.close()
    return QueryResponse(records=result)
"""

CODE_EXECUTION = """\
import subprocess

async def execute_code(self, body: CodeRequest) -> CodeResponse:
    result = subprocess.run(
        ['python', '-c', body.code],
        capture_output=True,
        text=True,
        timeout=5
    )
    return CodeResponse(
        stdout=result.stdout,
        stderr=result.stderr,
        returncode=result.returncode
    )
"""

EXACT_MATCH = '''\
async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
    """Binary scoring: 1.0 if correct, 0.0 if incorrect."""
    
    # Extract agent's answer from the conversation
    agent_answer = self._extract_answer(body.input)
    
    # Get ground truth from metadata
    correct_answer = body.metadata.get("answer")
    
    # Binary scoring
    reward = 1.0 if agent_answer == correct_answer else 0.0
    
    return BaseVerifyResponse(**body.model_dump(), reward=reward)
'''

SIMILARITY = '''\
from openai import AsyncOpenAI

async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
    """Continuous scoring using LLM judge."""
    
    agent_answer = self._extract_answer(body.input)
    reference_answer = body.metadata.get("reference_answer")
    
    # Use LLM to judge semantic similarity
    client = AsyncOpenAI()
    response = await client.chat.completions.create(
        model="gpt-4o",
        messages=[
            {
                "role": "system",
                "content": "Rate the semantic similarity of two answers from 0.0 to 1.0"
            },
            {
                "role": "user",
                "content": f"Reference: {reference_answer}\\nAgent: {agent_answer}"
            }
        ]
    )
    
    # Parse score from LLM response
    reward = float(response.choices[0].message.content)
    
    return BaseVerifyResponse(**body.model_dump(), reward=reward)
'''

PROGRAMMATIC = '''\
async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
    """Verification using programmatic checks."""
    
    agent_output = self._extract_answer(body.input)
    
    # Run programmatic checks
    checks_passed = 0
    total_checks = 3
    
    # Check 1: Valid JSON format
    try:
        import json
        parsed = json.loads(agent_output)
        checks_passed += 1
    except:
        parsed = {}
    
    # Check 2: Required fields present
    if all(k in parsed for k in ["name", "value"]):
        checks_passed += 1
    
    # Check 3: Value in valid range
    if 0 <= parsed.get("value", -1) <= 100:
        checks_passed += 1
    
    reward = checks_passed / total_checks
    
    return BaseVerifyResponse(**body.model_dump(), reward=reward)
'''

CONFIGURATION = """\
# Resource server definition
my_task_resources_server:
  resources_servers:
    my_task:
      entrypoint: app.py
      host: 127.0.0.1
      # port: auto-assigned if omitted

# Agent definition
my_task_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server:
        type: resources_servers
        name: my_task_resources_server
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
        - name: train
          type: train
          jsonl_fpath: resources_servers/my_task/data/train.jsonl
        - name: validation
          type: validation
          jsonl_fpath: resources_servers/my_task/data/validation.jsonl
"""

DATASET = """\
{"query": "What is the capital of France?", "answer": "Paris", "metadata": {"difficulty": "easy"}}
{"query": "Calculate 15 * 23", "answer": "345", "metadata": {"difficulty": "medium"}}
{"query": "Write a function to reverse a string", "answer": "def reverse(s): return s[::-1]", "metadata": {"difficulty": "hard"}}
"""

EXAMPLES = """\
cat > resources_servers/my_task/data/example.jsonl << EOF
{"query": "Test query 1", "answer": "Expected answer 1", "metadata": {}}
{"query": "Test query 2", "answer": "Expected answer 2", "metadata": {}}
{"query": "Test query 3", "answer": "Expected answer 3", "metadata": {}}
{"query": "Test query 4", "answer": "Expected answer 4", "metadata": {}}
{"query": "Test query 5", "answer": "Expected answer 5", "metadata": {}}
EOF
"""

TESTS = '''\
import pytest
from app import MyTaskResourcesServer, MyToolRequest

@pytest.fixture
def server():
    return MyTaskResourcesServer()

@pytest.mark.asyncio
async def test_my_tool(server):
    """Test tool executes correctly."""
    request = MyToolRequest(input_text="test")
    response = await server.my_tool(request)
    
    assert response.result is not None
    assert "test" in response.result

@pytest.mark.asyncio
async def test_verify(server):
    """Test verification logic."""
    from nemo_gym.base_resources_server import BaseVerifyRequest
    
    verify_request = BaseVerifyRequest(
        input=[
            {"role": "user", "content": "query"},
            {"role": "assistant", "content": "correct answer"}
        ],
        metadata={"answer": "correct answer"}
    )
    
    response = await server.verify(verify_request)
    
    assert 0.0 <= response.reward <= 1.0
    assert response.reward == 1.0  # Correct answer should get full score
'''

TEST = """\
# Test your resource server
ng_test +entrypoint=resources_servers/my_task

# Test with data validation
ng_test +entrypoint=resources_servers/my_task +should_validate_data=true
"""

END_TO_END = """\
# Start your servers
config_paths="responses_api_models/openai_model/configs/openai_model.yaml,\\
resources_servers/my_task/configs/my_task.yaml"

ng_run "+config_paths=[${config_paths}]"

# In another terminal, collect rollouts
ng_collect_rollouts \\
    +agent_name=my_task_simple_agent \\
    +input_jsonl_fpath=resources_servers/my_task/data/example.jsonl \\
    +output_jsonl_fpath=outputs/my_task_test.jsonl \\
    +limit=5
"""

INSPECT = """\
# Inspect collected data
ng_viewer +jsonl_fpath=outputs/my_task_test.jsonl
"""

MULTI_TOOL = '''\
class MyTaskResourcesServer(BaseResourcesServer):
    async def tool_1(self, body: Tool1Request) -> Tool1Response:
        """First tool."""
        pass
    
    async def tool_2(self, body: Tool2Request) -> Tool2Response:
        """Second tool."""
        pass
    
    async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
        """Verify based on which tools were used."""
        pass
'''

MULTI_METRIC = '''\
from typing import Dict

async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
    """Return primary reward + additional metrics."""
    
    accuracy = self._compute_accuracy(body)
    completeness = self._compute_completeness(body)
    efficiency = self._compute_efficiency(body)
    
    # Primary reward (weighted combination)
    reward = 0.5 * accuracy + 0.3 * completeness + 0.2 * efficiency
    
    # Additional metrics for analysis
    metadata = {
        "accuracy": accuracy,
        "completeness": completeness,
        "efficiency": efficiency
    }
    
    return BaseVerifyResponse(
        **body.model_dump(),
        reward=reward,
        metadata=metadata
    )
'''

REQUIREMENTS = """\
httpx>=0.24.0
asyncpg>=0.28.0
numpy>=1.24.0
"""

WONT_START = """\
# Ensure you're in the project root
cd /path/to/Gym

# Verify editable install
pip install -e ".[dev]"

# Check server path is correct
ls resources_servers/my_task/app.py
"""

INVALID_REWARDS = """\
async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
    reward = self._compute_reward(body)
    
    # Clamp to valid range
    reward = max(0.0, min(1.0, reward))
    
    # Handle NaN
    if reward != reward:  # NaN check
        reward = 0.0
    
    return BaseVerifyResponse(**body.model_dump(), reward=reward)
"""

BLOCKS = [
    SETUP,
    STRUCTURE,
    SERVER,
    EXTERNAL_API,
    DATABASE,
    CODE_EXECUTION,
    EXACT_MATCH,
    SIMILARITY,
    PROGRAMMATIC,
    CONFIGURATION,
    DATASET,
    EXAMPLES,
    TESTS,
    TEST,
    END_TO_END,
    INSPECT,
    MULTI_TOOL,
    MULTI_METRIC,
    REQUIREMENTS,
    WONT_START,
    INVALID_REWARDS,
]
