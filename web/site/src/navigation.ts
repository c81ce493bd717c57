/** One entry of the sidebar. */
export interface NavigationEntry {
  /** The Markdown file, from the root of the repository. */
  readonly path: string;
  /** The page's first heading unless given. */
  readonly title?: string;
  /** A folder whose other pages appear beneath this one, in the order of their file names. */
  readonly folder?: string;
}

/** What a reader came for. */
export type NavigationPart = 'Use the API' | 'Run it yourself';

export interface NavigationSection {
  readonly part: NavigationPart;
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/** The sidebar, and the order of "previous" and "next". A test fails if a page of docs/ is missing or listed twice. */
export const NAVIGATION: readonly NavigationSection[] = [
  {
    part: 'Use the API',
    title: 'Start',
    entries: [
      { path: 'docs/start/overview.md' },
      { path: 'docs/start/quickstart.md' },
      { path: 'docs/start/languages-and-models.md' },
      { path: 'docs/guides/install.md' },
      { path: 'clients/examples/README.md', title: 'Examples' },
    ],
  },
  {
    part: 'Use the API',
    title: 'Concepts',
    entries: [
      { path: 'docs/concepts/sessions-and-credit.md' },
      { path: 'docs/concepts/keys.md' },
      { path: 'docs/concepts/turns.md' },
      { path: 'docs/concepts/keyterms.md' },
      { path: 'docs/concepts/audio-formats.md' },
      { path: 'docs/concepts/limits.md' },
      { path: 'docs/concepts/latency.md' },
      { path: 'docs/privacy.md' },
      { path: 'docs/streaming.md' },
      { path: 'docs/concepts/glossary.md' },
    ],
  },
  {
    part: 'Use the API',
    title: 'Guides',
    entries: [
      { path: 'docs/guides/browser.md' },
      { path: 'docs/guides/react.md' },
      { path: 'docs/guides/python.md' },
      { path: 'docs/guides/command-line.md' },
      { path: 'docs/guides/captions.md' },
      { path: 'docs/guides/numbers.md' },
      { path: 'docs/guides/voice-notes.md' },
      { path: 'docs/guides/voice-agents.md' },
      { path: 'docs/guides/telephony.md' },
      { path: 'docs/guides/compatible.md' },
      { path: 'docs/guides/compatible-clients.md' },
      { path: 'docs/guides/low-bandwidth.md' },
      { path: 'docs/guides/testing-with-the-emulator.md' },
      { path: 'docs/guides/production-checklist.md' },
      { path: 'docs/guides/troubleshooting.md' },
      { path: 'docs/guides/faq.md' },
    ],
  },
  {
    part: 'Use the API',
    title: 'Migrate',
    entries: [
      { path: 'docs/migrate/deepgram.md', title: 'From Deepgram' },
      { path: 'docs/migrate/assemblyai.md', title: 'From AssemblyAI' },
      { path: 'docs/migrate/openai-realtime.md', title: 'From OpenAI Realtime' },
      { path: 'docs/migrate/google.md', title: 'From Google' },
    ],
  },
  {
    part: 'Use the API',
    title: 'Reference',
    entries: [
      { path: 'docs/reference/http.md' },
      { path: 'docs/reference/stream.md' },
      { path: 'docs/errors.md' },
      { path: 'docs/reference/sdk-errors.md' },
      { path: 'clients/sdk/README.md', title: 'TypeScript SDK' },
      { path: 'docs/reference/typescript.md' },
      { path: 'clients/sdk-python/README.md', title: 'Python SDK' },
      { path: 'docs/reference/python.md' },
      { path: 'clients/cli/README.md', title: 'svc, the command line' },
      { path: 'docs/reference/cli.md', title: 'Commands of svc' },
      { path: 'clients/emulator/README.md', title: 'Emulator' },
      { path: 'docs/reference/emulator.md', title: 'Options of svc-emulator' },
      { path: 'clients/integrations/livekit/README.md', title: 'LiveKit Agents (Node)' },
      { path: 'clients/integrations/livekit-python/README.md', title: 'LiveKit Agents (Python)' },
      { path: 'clients/integrations/pipecat/README.md', title: 'Pipecat' },
      { path: 'clients/integrations/telephony/README.md', title: 'Telephone bridge' },
      { path: 'clients/integrations/compatible/README.md', title: 'OpenAI and Deepgram clients' },
      { path: 'CHANGELOG.md' },
    ],
  },
  {
    part: 'Run it yourself',
    title: 'Operate',
    entries: [
      { path: 'docs/start/on-your-machine.md' },
      { path: 'docs/operations.md' },
      { path: 'docs/operations/install.md' },
      { path: 'docs/operations/compose.md' },
      { path: 'docs/operations/image.md' },
      { path: 'docs/operations/systemd.md' },
      { path: 'docs/operations/kubernetes.md' },
      { path: 'docs/operations/several-nodes.md' },
      { path: 'docs/operations/two-tiers.md' },
      { path: 'docs/operations/cells.md' },
      { path: 'docs/operations/postgres-failover.md' },
      { path: 'docs/console.md' },
      { path: 'docs/configuration.md' },
      { path: 'docs/operations/accounts.md' },
      { path: 'docs/operations/operators.md' },
      { path: 'docs/reference/svc-admin.md', title: 'Commands of svc-admin' },
      { path: 'docs/operations/upgrade.md' },
      { path: 'docs/operations/backup-and-restore.md' },
      { path: 'docs/operations/monitoring.md' },
      { path: 'docs/reference/metrics.md' },
      { path: 'docs/operations/process-limits.md' },
      { path: 'docs/operations/runbooks.md' },
      { path: 'docs/operations/status-page.md' },
      { path: 'docs/operations/audit.md' },
      { path: 'docs/operations/failures.md' },
      { path: 'docs/operations/release.md' },
      { path: 'docs/scale.md' },
      { path: 'docs/threat-model.md' },
      { path: 'docs/abuse.md' },
      { path: 'SECURITY.md' },
    ],
  },
  {
    part: 'Run it yourself',
    title: 'Models',
    entries: [
      { path: 'core/models/MODEL_CARD.md', title: 'Model card' },
      { path: 'docs/guides/weights.md' },
      { path: 'docs/guides/tune-weights.md', title: 'Tune and compare weights' },
      { path: 'docs/guides/fine-tuning.md', title: 'Fine-tuning' },
      { path: 'training/README.md' },
      { path: 'docs/engine.md' },
    ],
  },
  {
    part: 'Run it yourself',
    title: 'Contribute',
    entries: [
      { path: 'CONTRIBUTING.md' },
      { path: 'docs/architecture.md' },
      { path: 'docs/ledger.md' },
      { path: 'docs/measurements.md' },
      { path: 'docs/verification.md' },
      { path: 'docs/simulation.md' },
      { path: 'docs/simulation-mutants.md' },
      { path: 'docs/conformance.md' },
      { path: 'docs/dependencies.md' },
      { path: 'docs/design/README.md', title: 'Design notes', folder: 'docs/design' },
      { path: 'docs/adr/README.md', title: 'Decision records', folder: 'docs/adr' },
      { path: 'CODE_OF_CONDUCT.md' },
    ],
  },
];
