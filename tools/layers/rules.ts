import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { circleName, circlesOf, edgesOfFolders } from "./circles.ts";
import type { Sources } from "./read-imports.ts";

/** What each package may import of ours. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  proof: [],
  contract: ["proof"],
  host: [],
  orchestrator: ["contract", "host", "proof"],
  agent: ["contract", "host", "proof"],
  verifier: ["contract", "proof"],
  dashboard: ["contract", "proof", "verifier"],
};

/**
 * The folders of each package's `src`, the lowest first: a folder imports only from those before
 * it. Packages without an entry have no order of folders.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  orchestrator: ["platform", "log", "features", "service", "cli"],
  agent: [
    "errors",
    "processes",
    "state",
    "transport",
    "trees",
    "secrets",
    "signer-client",
    "crypto",
    "signer",
    "checks",
    "config",
    "sandboxes",
    "engines",
    "journal",
    "receipts",
    "service",
    "log",
    "recovery",
    "key-rotation",
    "runs",
    "backends",
    "cli",
  ],
  dashboard: ["verifier", "api", "text", "parts", "verification", "pages", "app"],
};

/** What one folder may not know of another, although the layers would allow it. */
const UNKNOWN_TO: readonly { readonly folder: string; readonly unknown: string }[] = [
  // The log has errors of its own; the routes turn them into answers.
  { folder: "packages/orchestrator/src/log/", unknown: "packages/orchestrator/src/platform/http/" },
];

/**
 * Where programs begin, and what others import. What none of these leads to is no part of the
 * product.
 */
const ENTRIES = [
  "packages/proof/src/index.ts",
  "packages/proof/src/text/plain-text.ts",
  "packages/contract/src/index.ts",
  "packages/contract/src/client/index.ts",
  "packages/orchestrator/src/index.ts",
  "packages/orchestrator/src/main.ts",
  // `npm run client` reads it.
  "packages/orchestrator/src/features/api-routes.ts",
  "packages/agent/src/index.ts",
  "packages/agent/src/main.ts",
  "packages/agent/src/single-executable.ts",
  "packages/verifier/src/main.ts",
  "packages/dashboard/src/main.tsx",
];

/** What breaks each kind of rule, a line each. */
export interface Findings {
  /** Folders and files that import each other in a circle. */
  readonly circles: readonly string[];
  /** Imports of a package that may not be imported, or from outside of all packages. */
  readonly crossings: readonly string[];
  /** Imports of a higher folder, or of one that the importing folder may not know. */
  readonly upwards: readonly string[];
  /** Files of `src` that only tests use. */
  readonly testsAlone: readonly string[];
  /** npm packages that a package.json does not declare. */
  readonly undeclared: readonly string[];
}

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);
/** `agent` of `packages/agent/src/main.ts`; empty for what is in no package. */
const packageOf = (file: string): string => /^packages\/([^/]+)\//.exec(file)?.[1] ?? "";

/**
 * What the sources do against the rules. Type-only and lazy imports count. Circles are those of the
 * product: tests may import anything.
 */
export function findingsIn(sources: Sources, root: string): Findings {
  const { files, imports } = sources;
  const product = productOf(sources);
  return {
    circles: circlesOf(edgesOfFolders(imports.filter(({ from }) => product.has(from)))).map(circleName),
    crossings: imports
      .filter(({ from, to }) => !mayImport(from, to))
      .map(({ from, to }) => `${from} imports ${to}`)
      .toSorted(),
    upwards: imports
      .filter(({ from, to }) => product.has(from) && isUpwards(from, to))
      .map(({ from, to }) => `${from} imports ${to}`)
      .toSorted(),
    testsAlone: files.filter((file) => !product.has(file) && !isTest(file) && !file.endsWith(".d.ts")),
    undeclared: undeclaredIn(sources, product, root),
  };
}

function mayImport(from: string, to: string): boolean {
  const [own, other] = [packageOf(from), packageOf(to)];
  if (own !== other && !(PACKAGES[own] ?? []).includes(other)) return false;
  // Tests have their helpers outside of src.
  return isTest(from) || (to.split("/")[2] === "src" && !isTest(to));
}

function isUpwards(from: string, to: string): boolean {
  if (UNKNOWN_TO.some(({ folder, unknown }) => from.startsWith(folder) && to.startsWith(unknown)))
    return true;
  const order = LAYERS[packageOf(from)];
  if (order === undefined || packageOf(from) !== packageOf(to)) return false;
  const [own, other] = [folderOf(from), folderOf(to)];
  if (own === null || other === null || own === other) return false;
  // A folder that the table lacks is lower than none, so whoever adds one has to give it a place.
  return !order.includes(other) || order.indexOf(other) > order.indexOf(own);
}

/** `platform` of `packages/orchestrator/src/platform/…`; null for a file right in `src`. */
function folderOf(file: string): string | null {
  return /^packages\/[^/]+\/src\/([^/]+)\//.exec(file)?.[1] ?? null;
}

/** The files that the product is made of. */
export function productOf({ imports }: Sources): ReadonlySet<string> {
  const next = Map.groupBy(imports, ({ from }) => from);
  const found = new Set<string>();
  const waiting = [...ENTRIES];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    waiting.push(...(next.get(file) ?? []).map(({ to }) => to));
  }
  return found;
}

function undeclaredIn({ external }: Sources, product: ReadonlySet<string>, root: string): string[] {
  const declared = new Map<string, readonly string[]>();
  const declaredBy = (name: string): readonly string[] => {
    const known = declared.get(name);
    if (known !== undefined) return known;
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(root, "packages", name, "package.json"), "utf8"),
    ) as Record<string, Record<string, string> | undefined>;
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    declared.set(name, names);
    return names;
  };
  const missing = external.filter(
    ({ from, name }) =>
      product.has(from) &&
      !isBuiltin(name) &&
      !declaredBy(packageOf(from)).some((each) => name === each || name.startsWith(`${each}/`)),
  );
  return [
    ...new Set(missing.map(({ from, name }) => `packages/${packageOf(from)} imports ${name}`)),
  ].toSorted();
}
