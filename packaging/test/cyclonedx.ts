import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";

/** CycloneDX's own schema of its version 1.6, and those that it refers to. */
export function cycloneDxValidator(): ValidateFunction {
  const library = dirname(
    createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json"),
  );
  const schema = (name: string): object =>
    JSON.parse(readFileSync(join(library, "res/schema", `${name}.SNAPSHOT.schema.json`), "utf8")) as object;
  // Formats that ajv does not know, of members that we do not write.
  const ajv = new Ajv({ strict: false, formats: { "iri-reference": true, "idn-email": true } });
  formats.default(ajv);
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile({ ...schema("bom-1.6") });
}
