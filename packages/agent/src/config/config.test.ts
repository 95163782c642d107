import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ConfigError, parseConfig, readConfig } from "./config.ts";

const FILE = "/r/config.yaml";

function issuesOf(text: string): string[] {
  try {
    parseConfig(text, FILE, "/r");
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

it("config.yaml is read whole, with paths relative to the root", () => {
  const config = parseConfig(
    `service: { url: "https://localhost:8443", ca_file: keys/ca.pem }
agent: { id: agent_01jd5wz5pqe6m8n0t4c3x7r2ka, org_id: org_01jd5wz5pqe6m8n0t4c3x7r2ka, name: db-1 }
encryption:
  recipients: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]
  identity_files: [keys/age.key, /etc/other.key]
defaults: { source: invoices, json: true }
sources:
  invoices:
    engine: sqlite
    path: data/invoices.db
    checks:
      - { id: rows, query: "select count(*) as n from t", expect: "n >= 1" }
`,
    FILE,
    "/r",
  );
  expect(config.service?.url.href).toBe("https://localhost:8443/");
  expect(config.service?.caFile).toBe("/r/keys/ca.pem");
  expect(config.agent?.name).toBe("db-1");
  expect(config.identityFiles).toEqual(["/r/keys/age.key", "/etc/other.key"]);
  expect(config.defaults).toEqual({ source: "invoices", json: true });
  expect(config.sources.get("invoices")).toMatchObject({ engine: "sqlite", path: "/r/data/invoices.db" });
});

it("an empty config.yaml, or an empty block in it, gives the defaults", () => {
  for (const text of ["", "# only a comment\n", "sources:\n", "{}"]) {
    const config = parseConfig(text, FILE, "/r");
    expect(config.service).toBeNull();
    expect(config.sources.size).toBe(0);
  }
});

it("an error in config.yaml names an unknown key's line and column and the nearest right name", () => {
  expect(issuesOf("service:\n  ulr: https://x\n  url: https://x\n")).toEqual([
    `${FILE}:2:3: service.ulr is not a known field; did you mean "url"?`,
  ]);
  expect(issuesOf("# hello\nsoruces: {}\n")).toEqual([
    `${FILE}:2:1: soruces is not a known field; did you mean "sources"?`,
  ]);
  expect(issuesOf("defaults: { flavour: vanilla }")[0]).toMatch(
    /^\/r\/config\.yaml:1:13: defaults\.flavour is not a known field; there are json, quiet, verbose, source, /,
  );
});

it("every mistake in config.yaml is named at once, in the order of the file", () => {
  const issues = issuesOf(`service: { url: http://x }
agent: { id: agent_1 }
nonsense: 1
`);
  expect(issues.map((line) => line.slice(FILE.length + 1))).toEqual([
    "1:12: service.url must be https://HOST or https://HOST:PORT",
    "2:1: agent.org_id is missing",
    "2:10: agent.id must be the agent's id, agent_…",
    "3:1: nonsense is not a known field; there are service, agent, encryption, standalone, upload, test_for, allow_remote_config, remote_config_paths, limits, defaults, sources",
  ]);
});

it.each([
  ["service.url", (url: string) => `service: { url: "${url}" }`],
  [
    "standalone.storage.s3.endpoint",
    (url: string) => `standalone: { storage: { s3: { bucket: backups, endpoint: "${url}" } } }`,
  ],
  [
    "sources.a.endpoint",
    (url: string) => `sources: { a: { engine: dumps, bucket: "s3://backups", endpoint: "${url}" } }`,
  ],
])("%s with a port or a host that cannot be is a mistake in config.yaml", (field, text) => {
  expect(issuesOf(text("https://s3.example.org:9000"))).toEqual([]);
  for (const url of ["https://s3.example.org:90000", "https://[::1", "https://s3 .example.org"])
    expect(issuesOf(text(url))).toEqual([
      expect.stringContaining(`${field} must be https://HOST or https://HOST:PORT`),
    ]);
});

it("an issue of a source is placed at its line", () => {
  expect(
    issuesOf(`sources:
  a:
    engine: sqlite
    path: x
    checks:
      - { id: one, query: "select 1 as n", expect: "n = 1" }
      - id: two
        querry: "select 1"
        query: "select 1"
        expect: ""
`).map((line) => line.slice(FILE.length + 1)),
  ).toEqual([
    "8:9: sources.a.checks[1].querry not a field of this kind of check; its fields are id, query, expect",
    "10:9: sources.a.checks[1].expect must be a non-empty text",
  ]);
});

it("config.yaml may not have a default source that does not exist, a key twice, or anything but YAML", () => {
  expect(issuesOf("defaults: { source: ordrs }\nsources: { orders: { engine: files, path: /x } }")).toEqual([
    `${FILE}:1:13: defaults.source no source is named "ordrs"; did you mean "orders"?`,
  ]);
  expect(issuesOf("service: {}\nservice: {}\n")[0]).toMatch(/config\.yaml:2:1: /);
  expect(issuesOf("service: [\n")[0]).toMatch(/config\.yaml:\d+:\d+: /);
  expect(issuesOf("- a\n- b\n")[0]).toMatch(/config\.yaml:1:1: must be object/);
});

it("a secret written where a reference belongs is not repeated in the error", () => {
  const issues = issuesOf("sources: { a: { engine: postgresql, connection: 'postgresql://u:hunter2@h/d' } }");
  expect(issues).toHaveLength(1);
  expect(issues.join()).not.toContain("hunter2");
});

const OF_URL = (url: string, engine = "postgresql"): string =>
  `sources: { a: { engine: ${engine}, connection: '${url}' } }`;

it.each([
  ["postgresql", "postgresql://backup@/orders?host=/run/postgresql&port=5433"],
  ["postgresql", "postgresql:///orders"],
  ["postgresql", "postgresql://backup@db-1:5432,db-2:5433/orders?target_session_attrs=any"],
  ["postgresql", "postgresql://backup@[::1]:5432,db-2/orders"],
  ["mariadb", "mysql://backup@/shop?socket=/run/mysqld/mysqld.sock"],
  ["mongodb", "mongodb://db-1:27017,db-2:27017/shop?replicaSet=rs0"],
])("a URL of %s without a password may name a socket, or several servers: %s", (engine, url) => {
  const source = parseConfig(OF_URL(url, engine), FILE, "/r").sources.get("a");
  expect(source).toMatchObject({ connection: { kind: "url", url } });
});

it.each([
  "postgresql://u:hunter2@/d?host=/run",
  "postgresql://u:hunter2@a:1,b:2/d",
  "postgresql://u@a:1,b:2/d?password=hunter2",
  "postgresql://u@a:1,b:2/d?p%61ssword=hunter2",
])("such a URL with a password is refused as one: %s", (url) => {
  expect(issuesOf(OF_URL(url)).join()).toMatch(/ must not hold a password: (?!.*hunter2)/);
});

it.each([
  "postgresql://u:hun/ter2@a:1,b:2/d",
  "postgresql://u:hun?ter2@/d",
  "postgresql://u:hunter2",
  "postgresql://a:1,b:port/d",
  "postgresql://u@/d x",
])("what is not quite such a URL is refused, because it may hold a password: %s", (url) => {
  const issues = issuesOf(OF_URL(url));
  expect(issues).toHaveLength(1);
  expect(issues.join()).not.toMatch(/hunter2|ter2/);
});

function shownOf(text: string): string {
  try {
    parseConfig(text, FILE, "/r");
  } catch (error) {
    if (error instanceof ConfigError) return error.shown;
    throw error;
  }
  throw new Error("no mistake was found");
}

it("a mistake is shown with its line and a caret below the place", () => {
  expect(shownOf("# mine\nsources:\n\tpath: x\n")).toContain("\n  3 |  path: …\n    | ^");
  expect(shownOf("defaults: { source: ordrs }\n")).toBe(
    `${FILE}:1:13: defaults.source no source is named "ordrs"\n` +
      "  1 | defaults: { source: ordrs }\n    |             ^",
  );
});

it.each([
  ["a URL's password", "sources: { a: { engine: postgresql, connection: 'postgresql://u:hunter2@h/d' } }"],
  ["an unknown field's value", "sources:\n  a:\n    engine: sqlite\n    path: /x\n    phrase: hunter2\n"],
  ["an unknown block's value", "phrase: hunter2\n"],
  ["a flow mapping's value", "sources: { a: { engine: sqlite, path: /x, phrase: hunter2 } }"],
  [
    "a connection in libpq's words",
    "sources: { a: { engine: postgresql, connection: host=h password=hunter2 } }",
  ],
  ["a line that is no YAML", "sources: [\npassword: hunter2\n"],
  ["a line that is no YAML, with a token", "]\t: hunter2hunter2hunter2hunter2hunter2\n"],
  ["a private key", "encryption: { recipients: [AGE-SECRET-KEY-1HUNTER2hunter2] }"],
  ["a password with an at sign and a slash", "service: { url: 'https://u:p@ss/hunter2@h' }"],
  [
    "a block scalar with a line out of place",
    "sources:\n  a:\n    password: |\n      x\n   hunter2\n  b: x\n",
  ],
  ["a block scalar's first line beside its sign", "password: |hunter2\n  x\n"],
  ["a value on a line of its own", "sources:\n  a:\n    password:\n      hunter2\n      engine: sqlite\n"],
  ["a value after `?` and `:`", "? password\n: hunter2: x\n"],
  ["a value that is read as an alias", "password: *hunter2\n"],
  ["a value that is read as a tag", "password: !hunter2 !x y\n"],
  ["an anchor's value", "sources: { a: { engine: postgrsql, phrase: &p hunter2 } }"],
  ["an escape in double quotes", 'password: "\\hunter2"\n'],
  ["text after a flow mapping", "sources: { a: b } hunter2\n"],
  ["an unknown field beside a mistake in a known one", "agent: { phrase: hunter2, id: agent_1 }"],
  ["a key of escaped letters", 'agent: { "p\\u0061ssword": hunter2, id: agent_1 }'],
  ["a command's arguments", "sources: { a: { engine: x, checks: [{ command: [c, --password, hunter2] }] } }"],
  ["a comment", "agent: { id: agent_1 } # was hunter2\n"],
  ["a URL where a field's name belongs", "agent: { id: agent_1, 'postgresql://u:hunter2@h': }"],
  ["a list's item", "encryption: { recipients: [hunter2, age1x] }"],
  [
    "a query",
    "sources: { a: { engine: sqlite, path: 1, checks: [{ id: x, query: select 'hunter2', expect: y }] } }",
  ],
])("a secret in the line of a mistake is not shown: %s", (_what, text) => {
  expect(shownOf(text)).toMatch(/\^/);
  expect(shownOf(text)).not.toMatch(/hunter2/i);
});

it("text that cannot contain a secret is shown beside hidden text", () => {
  const text = `sources: { shop: { engine: postgrsql, path: /srv/x, jobs: 4, connection: env:X } } # mine`;
  expect(shownOf(text)).toContain(
    "| sources: { shop: { engine: postgrsql, path: /srv/x, jobs: 4, connection: …",
  );
  expect(shownOf("sources:\n  shop:\n   engine: files\n  path: /x\n - y\n")).toMatch(/ \| {2}- …\n/);
});

it("the caret is below its place, even in a long line and after a hidden secret", () => {
  const long = `defaults: { wait: true, ${" ".repeat(300)} flavour: 1 }\n`;
  const at = (shown: string): string => {
    const [line = "", caret = ""] = shown.split("\n").slice(-2);
    return line.slice(caret.indexOf("^"), caret.indexOf("^") + 7);
  };
  expect(at(shownOf(long))).toBe("flavour");
  expect(
    at(shownOf("service: { url: 'https://u:hunter2@h', flavour: x }\n").split("\n").slice(-2).join("\n")),
  ).toBe("flavour");
});

it("YAML aliases that lead nowhere, or that are far too many, are mistakes of the file", () => {
  expect(issuesOf("sources: { a: *nowhere }\n")).toEqual([expect.stringMatching(/:1:15: .*alias/)]);
  const many = `sources:\n  a: &a { engine: sqlite }\n${Array.from({ length: 200 }, (_, at) => `  b${at}: *a`).join("\n")}\n`;
  const bomb = `sources:\n  a: &a [x, x]\n  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n  c: [${"*b, ".repeat(50)}]\n`;
  expect(issuesOf(many).length).toBeGreaterThan(0);
  expect(issuesOf(bomb)).toEqual([expect.stringContaining("alias")]);
});

it("a source's tags are sorted, and with the environment have the form that the service takes", () => {
  const source = (more: string): string => `sources: { a: { engine: sqlite, path: /x, ${more} } }`;
  const { tags, environment } =
    parseConfig(source("tags: [eu, billing], environment: production"), FILE, "/r").sources.get("a") ?? {};
  expect({ tags, environment }).toEqual({ tags: ["billing", "eu"], environment: "production" });
  for (const wrong of [
    "tags: [Upper]",
    "tags: [a, a]",
    "tags: production",
    "environment: [a]",
    "environment: 'a b'",
  ])
    expect(issuesOf(source(wrong)), wrong).toHaveLength(1);
});

it("a pipe in place of config.yaml is refused at once, although nobody writes to it", async () => {
  const root = mkdtempSync(join(tmpdir(), "attestore-pipe-"));
  try {
    const file = join(root, "config.yaml");
    execFileSync("mkfifo", [file]);
    await expect(readConfig(file, root)).rejects.toMatchObject({ code: "root_unusable" });
  } finally {
    rmSync(root, { recursive: true });
  }
});
