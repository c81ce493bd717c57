import type { Page } from 'playwright-core';

/** Counts the microphone tracks of a page that are still on. Call it before the page is loaded. */
export async function countLiveTracks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const tracks: MediaStreamTrack[] = [];
    const { mediaDevices } = navigator;
    const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (constraints) => {
      const media = await getUserMedia(constraints);
      tracks.push(...media.getTracks());
      return media;
    };
    Object.assign(globalThis, {
      /** How often a microphone was opened. */
      opened: () => tracks.length,
      liveTracks: () => tracks.filter(({ readyState }) => readyState === 'live').length,
    });
  });
  return () => page.evaluate('globalThis.liveTracks()');
}
