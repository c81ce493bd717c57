import {
  Copy,
  DockerfileParser,
  From,
  type Instruction,
  JSONInstruction,
  PropertyInstruction,
} from 'dockerfile-ast';

export type Step =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'copy';
      /** A stage, or undefined for the build context. */
      readonly from: string | undefined;
      readonly sources: readonly string[];
      readonly target: string;
    }
  | { readonly kind: 'run'; readonly command: string };

export interface Stage {
  /** Its number if it has no name. */
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Step[];
}

/** Instructions that change no files. */
const SETTINGS = new Set(
  'LABEL USER EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD VOLUME'.split(' '),
);

/** Reads the instructions that matter to a build. Throws if it doesn't know one, so that none is silently left out. */
export function readStages(containerfile: string): Stage[] {
  const stages: { name: string; base: string; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(containerfile).getInstructions()) {
    const stage = stages.at(-1);
    if (instruction instanceof From) {
      const name = instruction.getBuildStage() ?? String(stages.length);
      stages.push({ name, base: instruction.getImage() ?? '', steps: [] });
    } else if (stage === undefined) {
      if (instruction.getKeyword() !== 'ARG') throw unknown(instruction);
    } else {
      stage.steps.push(...readSteps(instruction));
    }
  }
  return stages;
}

function readSteps(instruction: Instruction): Step[] {
  const keyword = instruction.getKeyword();
  if (SETTINGS.has(keyword)) return [];
  if (keyword === 'WORKDIR') return [{ kind: 'folder', path: words(instruction).join(' ') }];
  if (instruction instanceof PropertyInstruction)
    return instruction.getProperties().map((property) => ({
      kind: 'variable',
      name: property.getName(),
      value: property.getValue() ?? '',
    }));
  if (!(instruction instanceof JSONInstruction) || instruction.getOpeningBracket() !== null)
    throw unknown(instruction);
  if (instruction instanceof Copy) return [readCopy(instruction)];
  if (keyword !== 'RUN' || instruction.getFlags().length > 0) throw unknown(instruction);
  return [{ kind: 'run', command: instruction.getRawArgumentsContent() ?? '' }];
}

function readCopy(instruction: Copy): Step {
  const from = instruction.getFromFlag()?.getValue() ?? undefined;
  const sources = words(instruction);
  const target = sources.pop();
  const isKnown = instruction.getFlags().length === (from === undefined ? 0 : 1);
  if (!isKnown || target === undefined || sources.some((source) => /[*?[$<]/.test(source)))
    throw unknown(instruction);
  return { kind: 'copy', from, sources, target };
}

function words(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function unknown(instruction: Instruction): Error {
  return new Error(
    `${String(instruction)}: add it to proof/repository/containerfiles, which doesn't know it.`,
  );
}
