# Sourced by compose and systemd, which define `theirs` (curl with the key) and `same` (compares a transcript with the fixture's).

# compatible_files URL: a WAV file, an M4A file that has to be stored, and Deepgram's POST. Then no file is left.
compatible_files() {
  local fixtures=$root/core/models/fixtures m4a=$state/kikuyu-2.m4a
  same kikuyu-1 "$(theirs "$1/v1/audio/transcriptions" -F model=svc-asr-kikuyu-v1 -F response_format=text -F "file=@$fixtures/kikuyu-1.wav")"
  ffmpeg -nostdin -v error -y -i "$fixtures/kikuyu-2.wav" -b:a 128k "$m4a"
  same kikuyu-2 "$(theirs "$1/v1/audio/transcriptions" -F model=svc-asr-kikuyu-v1 -F response_format=text -F "file=@$m4a")"
  same dholuo-1 "$(theirs "$1/luo/v1/listen" --data-binary "@$fixtures/dholuo-1.wav" | node -p 'JSON.parse(require("fs").readFileSync(0)).results.channels[0].alternatives[0].transcript')"
}

# compatible_drain URL COMMAND...: the command sends SIGTERM while a file is on its way. The file is answered.
compatible_drain() {
  local url=$1 answer=$state/drained.txt sending
  shift
  rm -f "$answer"
  # 80 kB that take five seconds to arrive.
  theirs --limit-rate 16k "$url/v1/audio/transcriptions" -F model=svc-asr-dholuo-v1 -F response_format=text -F "file=@$root/core/models/fixtures/dholuo-2.wav" >"$answer" &
  sending=$!
  sleep 1
  "$@" >/dev/null
  wait "$sending"
  same dholuo-2 "$(cat "$answer")"
  echo 'the file that was on its way when SIGTERM came is answered'
}
