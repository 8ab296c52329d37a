"""An LLM that you can talk to: local STT, local TTS, any chat-completions server.

OPENAI_API_KEY=... uses OpenAI. LLM_URL=http://localhost:11434/v1 uses a server on this machine, such as Ollama.
"""

import os

from duologue import Agent, ChatBrain, LocalEars, LocalVoice, Phrases

agent = Agent(
    ChatBrain(
        os.environ.get("LLM_MODEL", "gpt-4o-mini"),
        base_url=os.environ.get("LLM_URL"),
        api_key=os.environ.get("LLM_KEY"),
    ),
    instructions="You are on the phone. Answer in one or two short sentences.",
    ears=LocalEars(),
    voice=LocalVoice(),
    phrases=Phrases(greeting="Hello! What can I do for you?"),
)
