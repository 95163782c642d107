/**
 * `npm run npm-packages`: @attestore/proof and attestore-verify as JavaScript with types, as
 * archives that npm publishes:
 *
 *   npm run npm-packages -- [--out DIR]      # dist/npm
 *   npm publish dist/npm/NAME.tgz
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY } from "../package/release.ts";
import { packForNpm } from "./packages.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: join(REPOSITORY, "dist/npm") } } });
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
for (const name of packForNpm(out)) process.stdout.write(`${join(out, name)}\n`);
