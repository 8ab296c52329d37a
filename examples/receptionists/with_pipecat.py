"""The receptionist with Pipecat 1.14: `python with_pipecat.py`, which serves a page over WebRTC."""

import os
from dataclasses import dataclass

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner


@dataclass
class Visit:
    guest: str = ""
    host: str = ""


async def find_host(params: FunctionCallParams, name: str) -> None:
    """Find a colleague whom the visitor wants to see.

    Args:
        name: The colleague's name.
    """
    params.app_resources.host = name
    await params.result_callback(f"{name} is in room 12")


async def sign_in(params: FunctionCallParams, guest: str) -> None:
    """Sign the visitor in.

    Args:
        guest: The visitor's name.
    """
    params.app_resources.guest = guest
    await params.result_callback(f"{guest} is signed in to see {params.app_resources.host or 'no one yet'}")


async def bot(runner_args: RunnerArguments) -> None:
    params = {"webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True)}
    transport = await create_transport(runner_args, params)
    stt = DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"])
    llm = OpenAILLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        settings=OpenAILLMService.Settings(model="gpt-4o-mini", system_instruction="You receive visitors."),
    )
    tts = CartesiaTTSService(
        api_key=os.environ["CARTESIA_API_KEY"],
        settings=CartesiaTTSService.Settings(voice="71a7ad14-091c-4e8e-a314-022ece01c121"),
    )
    user, assistant = LLMContextAggregatorPair(
        LLMContext(tools=[find_host, sign_in]),
        user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
    )
    parts = [transport.input(), stt, user, llm, tts, transport.output(), assistant]
    worker = PipelineWorker(Pipeline(parts), app_resources=Visit())

    @transport.event_handler("on_client_connected")
    async def greet(transport, client) -> None:
        await worker.queue_frames([TTSSpeakFrame("Welcome! Whom would you like to see?")])

    @transport.event_handler("on_client_disconnected")
    async def stop(transport, client) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
