import { testEngine } from './conformance.ts';
import { DECODERS } from './decoders.ts';

for (const { name, start } of DECODERS) testEngine(name, start);
