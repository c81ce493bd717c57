import type { Incident } from '@svc-asr/protocol/service-status.ts';

/**
 * The incidents as an Atom feed (RFC 4287). The id of an entry is made of the service's address and the incident's
 * number, so it stays when the incident changes and is the same in an exported feed.
 */
export function incidentFeed(
  incidents: readonly Incident[],
  { url, at }: { url: string; at: string },
): string {
  const updated =
    incidents
      .map(({ updated_at }) => updated_at)
      .toSorted()
      .at(-1) ?? at;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeXml(url)}/status</id>
<title>svc-asr: incidents</title>
<author><name>svc-asr</name></author>
<link href="${escapeXml(url)}/status"/>
<updated>${updated}</updated>
${incidents.map((incident) => entry(incident, url)).join('\n')}
</feed>
`;
}

function entry({ id, text, started_at, ended_at, updated_at }: Incident, url: string): string {
  const state = ended_at === null ? 'Ongoing' : 'Resolved';
  const time = ended_at === null ? `since ${started_at}` : `${started_at} to ${ended_at}`;
  return `<entry>
<id>${escapeXml(url)}/status#incident-${id}</id>
<title>${state}: ${escapeXml(text)}</title>
<link href="${escapeXml(url)}/status#incident-${id}"/>
<published>${started_at}</published>
<updated>${updated_at}</updated>
<content>${escapeXml(text)} (${time})</content>
</entry>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
