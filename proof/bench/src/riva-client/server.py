"""A recognition server on NVIDIA's generated stubs. It returns a fixed text per language, as Riva does: interim results
with stability 0, words in the final only, no health service, and no result without audio."""

import json
import sys
from concurrent import futures

import grpc
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc

INTERIM_BYTES = 35840


class Recognition(riva_asr_pb2_grpc.RivaSpeechRecognitionServicer):
    def __init__(self, texts):
        self.texts = texts

    def GetRivaSpeechRecognitionConfig(self, request, context):
        config = asr.RivaSpeechRecognitionConfigResponse.Config(model_name="scripted-rnnt")
        return asr.RivaSpeechRecognitionConfigResponse(model_config=[config])

    def StreamingRecognize(self, requests, context):
        config = next(requests).streaming_config.config
        words = self.texts[config.language_code].split(" ")
        audio_bytes = words_sent = 0
        for request in requests:
            audio_bytes += len(request.audio_content)
            while audio_bytes // INTERIM_BYTES > words_sent and words_sent < len(words):
                words_sent += 1
                alternative = asr.SpeechRecognitionAlternative(transcript=" ".join(words[:words_sent]))
                result = asr.StreamingRecognitionResult(
                    alternatives=[alternative], stability=0.0, audio_processed=words_sent * INTERIM_BYTES / 32000
                )
                yield asr.StreamingRecognizeResponse(results=[result])
        if audio_bytes == 0:
            return
        timed = [asr.WordInfo(word=word, start_time=at * 300, end_time=at * 300 + 200) for at, word in enumerate(words)]
        alternative = asr.SpeechRecognitionAlternative(transcript=" ".join(words) + " ", words=timed)
        result = asr.StreamingRecognitionResult(alternatives=[alternative], is_final=True, audio_processed=audio_bytes / 32000)
        yield asr.StreamingRecognizeResponse(results=[result])


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
    riva_asr_pb2_grpc.add_RivaSpeechRecognitionServicer_to_server(Recognition(json.loads(sys.argv[1])), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(json.dumps({"port": port}), flush=True)
    server.wait_for_termination()


main()
