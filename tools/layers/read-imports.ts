import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/**
 * One file's import of another of the same repository; paths are relative to the repository's root.
 */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** When it takes effect: at the start, in the types alone, or when the program gets there. */
  readonly kind: "value" | "type" | "lazy";
}

export interface Sources {
  /** All TypeScript files of all packages' `src`. */
  readonly files: readonly string[];
  readonly imports: readonly Import[];
  /** What a file imports from npm, as it is written. Node's own modules are left out. */
  readonly external: readonly { readonly from: string; readonly name: string }[];
}

interface PackageJson {
  name: string;
  exports?: Record<string, string>;
  imports?: Record<string, Record<string, string>>;
}

/** A package's directory, relative to the root, and what it says of itself. */
interface Package {
  directory: string;
  json: PackageJson;
}

const SOURCE = /\.tsx?$/;

/**
 * Reads every import of every package's `src`. Throws for one that leads nowhere: nothing may be
 * overlooked.
 */
export function readSources(root: string): Sources {
  const packages = readdirSync(join(root, "packages"))
    .toSorted()
    .map((name): Package => {
      const directory = join("packages", name);
      const json = JSON.parse(readFileSync(join(root, directory, "package.json"), "utf8")) as PackageJson;
      return { directory, json };
    });
  const files = packages.flatMap(({ directory }) => sourcesBelow(root, join(directory, "src")));
  const imports: Import[] = [];
  const external: { from: string; name: string }[] = [];
  for (const from of files) {
    for (const { name, kind } of importsOf(join(root, from))) {
      const targets = resolve(root, packages, from, name);
      if (targets === null) external.push({ from, name });
      else for (const to of targets) imports.push({ from, to, kind });
    }
  }
  return { files, imports, external };
}

function sourcesBelow(root: string, directory: string): string[] {
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory), { recursive: true, encoding: "utf8" })
    .filter((name) => SOURCE.test(name))
    .map((name) => join(directory, name))
    .toSorted();
}

/**
 * The files that a name stands for; none for styles and data, null for a package of npm's or a
 * module of Node's.
 */
function resolve(
  root: string,
  packages: readonly Package[],
  from: string,
  name: string,
): readonly string[] | null {
  const targets = candidates(packages, from, name);
  if (targets === null) return name.startsWith("node:") ? [] : null;
  for (const target of targets)
    if (!existsSync(join(root, target)))
      throw new Error(`${from} imports ${name}, but ${target} does not exist`);
  return targets.filter((target) => SOURCE.test(target));
}

function candidates(packages: readonly Package[], from: string, name: string): string[] | null {
  if (name.startsWith(".")) return [join(dirname(from), name)];
  if (name.startsWith("#")) {
    const own = packages.find(({ directory }) => from.startsWith(`${directory}/`));
    const conditions = own?.json.imports?.[name];
    if (own === undefined || conditions === undefined) throw new Error(`${from} imports the unknown ${name}`);
    return Object.values(conditions).map((target) => join(own.directory, target));
  }
  const owner = packages.find(({ json }) => name === json.name || name.startsWith(`${json.name}/`));
  if (owner === undefined) return null;
  const target = exported(owner.json, `.${name.slice(owner.json.name.length)}`);
  if (target === null) throw new Error(`${from} imports ${name}, which its package does not export`);
  return [join(owner.directory, target)];
}

/** What a subpath stands for; in `"./*": "./src/*.ts"` each star for the same. */
function exported({ exports = {} }: PackageJson, subpath: string): string | null {
  for (const [key, target] of Object.entries(exports)) {
    const [before = "", after] = key.split("*");
    if (after === undefined ? key === subpath : subpath.startsWith(before) && subpath.endsWith(after))
      return target.replaceAll("*", subpath.slice(before.length, subpath.length - (after ?? "").length));
  }
  return null;
}

type Node = { type: string } & Record<string, unknown>;

function importsOf(path: string): { name: string; kind: Import["kind"] }[] {
  const text = readFileSync(path, "utf8");
  const found: { name: string; kind: Import["kind"] }[] = [];
  const add = (source: unknown, kind: Import["kind"]): void => {
    const { value } = (source ?? {}) as { value?: unknown };
    if (typeof value === "string") found.push({ name: value, kind });
  };
  walk(parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }) as unknown as Node, (node) => {
    switch (node.type) {
      case "ImportDeclaration":
        return add(node["source"], isTypeOnly(node, "importKind") ? "type" : "value");
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
        return add(node["source"], isTypeOnly(node, "exportKind") ? "type" : "value");
      case "ImportExpression":
        return add(node["source"], "lazy");
      case "TSImportType":
        return add(node["source"] ?? node["argument"], "type");
      case "NewExpression":
        // new URL("./file.ts", import.meta.url): a program that is started as a process or a
        // worker.
        return addUrl(node, (url) => found.push({ name: url, kind: "lazy" }));
    }
  });
  return found;
}

function isTypeOnly(node: Node, field: "importKind" | "exportKind"): boolean {
  if (node[field] === "type") return true;
  const specifiers = (node["specifiers"] ?? []) as Node[];
  return specifiers.length > 0 && specifiers.every((each) => each[field] === "type");
}

function addUrl(node: Node, add: (url: string) => void): void {
  const [first, second] = node["arguments"] as Node[];
  const { name } = node["callee"] as { name?: string };
  const url = (first as { value?: unknown } | undefined)?.value;
  if (name === "URL" && second?.type === "MemberExpression" && typeof url === "string" && SOURCE.test(url))
    add(url);
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node))
    for (const each of Array.isArray(value) ? value : [value])
      if (typeof each === "object" && each !== null && "type" in each) walk(each as Node, visit);
}
