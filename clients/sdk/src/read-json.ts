/** Far above the longest response of the service. */
const BYTES_MAX = 1024 * 1024;

/** Reads a response body as JSON. Returns null if it is not JSON, incomplete, or longer than 1 MiB. */
export async function readJson(response: Response): Promise<unknown> {
  if (response.body === null) return null;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return JSON.parse(text + decoder.decode());
      bytes += value.byteLength;
      if (bytes > BYTES_MAX) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return null;
  }
  await reader.cancel().catch(() => {});
  return null;
}
