"""Transcribes raw PCM files with NVIDIA's own client. Prints one JSON line per file."""

import json
import sys
import time

import riva.client

CHUNK_BYTES = 3200
CHUNK_SECONDS = 0.1


def chunks(pcm, live):
    """Yields the audio at once, or as fast as a person speaks."""
    began = time.monotonic()
    for number, at in enumerate(range(0, len(pcm), CHUNK_BYTES)):
        if live:
            time.sleep(max(0, began + number * CHUNK_SECONDS - time.monotonic()))
        yield pcm[at : at + CHUNK_BYTES]


def main():
    order = json.loads(sys.argv[1])
    auth = riva.client.Auth(
        uri=order["address"],
        use_ssl=True,
        ssl_root_cert=order["ca"],
        ssl_client_cert=order["cert"],
        ssl_client_key=order["key"],
        options=[("grpc.ssl_target_name_override", order["server_name"])],
    )
    service = riva.client.ASRService(auth)
    request = riva.client.proto.riva_asr_pb2.RivaSpeechRecognitionConfigRequest()
    models = service.stub.GetRivaSpeechRecognitionConfig(request, metadata=auth.get_auth_metadata())
    print(json.dumps({"models": [model.model_name for model in models.model_config]}))
    for file in order["files"]:
        config = riva.client.StreamingRecognitionConfig(
            config=riva.client.RecognitionConfig(
                encoding=riva.client.AudioEncoding.LINEAR_PCM,
                language_code=file["language"],
                sample_rate_hertz=16000,
                max_alternatives=1,
                enable_word_time_offsets=True,
            ),
            interim_results=True,
        )
        with open(file["path"], "rb") as opened:
            pcm = opened.read()
        finals, interims = [], 0
        for response in service.streaming_response_generator(chunks(pcm, file["live"]), config):
            for result in response.results:
                if result.is_final:
                    finals.append(result.alternatives[0])
                else:
                    interims += 1
        words = [word.word for final in finals for word in final.words]
        text = " ".join(final.transcript for final in finals)
        print(json.dumps({"text": text, "words": words, "finals": len(finals), "interims": interims}))


main()
