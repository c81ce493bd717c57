import { testText } from './conformance.ts';
import { DECODERS } from './decoders.ts';

for (const { name, start } of DECODERS) testText(name, start);
