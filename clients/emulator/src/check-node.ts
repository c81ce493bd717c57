/** As in package.json. npm only warns about an older one. */
export const NODE_MIN = 22;

/** Throws a message with both versions on an older Node, which would fail later with a missing function. */
export function checkNode(version = process.versions.node): void {
  if (Number.parseInt(version, 10) >= NODE_MIN) return;
  throw new Error(
    `The emulator needs Node ${NODE_MIN} or newer, and this is Node ${version}. Install a newer one, then retry.`,
  );
}
