import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attachedHost, type Host } from "./harness/host.ts";
import { createOrganisation } from "./harness/organisation.ts";
import { run, type Environment, type Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";

/**
 * Where the agent finds its root, and which setting wins: the specification's section on the host's
 * layout.
 */

let base: string;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "attestore-e2e-root-")));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function rootAt(name: string): string {
  const root = join(base, name);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "config.yaml"), "sources: {}\n");
  return root;
}

/** Settings under which every branch would find a root of its own. */
function everyBranch(): { env: Environment; cwd: string; roots: Record<string, string> } {
  const roots = {
    flag: rootAt("flag"),
    environment: rootAt("environment"),
    walk: rootAt("walk"),
    xdg: rootAt("xdg/attestore"),
    home: rootAt("home/.local/state/attestore"),
  };
  const cwd = join(base, "walk", "a", "b");
  mkdirSync(cwd, { recursive: true });
  const env = {
    ATTESTORE_HOME: roots.environment,
    XDG_STATE_HOME: join(base, "xdg"),
    HOME: join(base, "home"),
  };
  return { env, cwd, roots };
}

const doctor = (env: Environment, cwd: string, ...args: string[]): Promise<Finished> =>
  run("attestore", ["doctor", ...args], env, cwd);

describe("the agent's root", () => {
  it("is where --root says", async () => {
    const { env, cwd, roots } = everyBranch();
    const { stdout } = await doctor(env, cwd, "--root", roots["flag"] ?? "");
    expect(stdout).toContain(roots["flag"]);
    expect(stdout).toContain("--root");
  });

  it("is otherwise where ATTESTORE_HOME says", async () => {
    const { env, cwd, roots } = everyBranch();
    const { stdout } = await doctor(env, cwd);
    expect(stdout).toContain(roots["environment"]);
    expect(stdout).toContain("ATTESTORE_HOME");
  });

  it("is otherwise the directory above with a config.yaml", async () => {
    const { env, cwd, roots } = everyBranch();
    const { stdout } = await doctor({ ...env, ATTESTORE_HOME: undefined }, cwd);
    expect(stdout).toContain(roots["walk"]);
    expect(stdout).toContain("config.yaml");
  });

  it("is otherwise in XDG_STATE_HOME", async () => {
    const { env, roots } = everyBranch();
    const { stdout } = await doctor({ ...env, ATTESTORE_HOME: undefined }, base);
    expect(stdout).toContain(roots["xdg"]);
    expect(stdout).toContain("XDG_STATE_HOME");
  });

  it("is otherwise in the home directory", async () => {
    const { env, roots } = everyBranch();
    const { stdout } = await doctor({ HOME: env["HOME"], XDG_STATE_HOME: undefined }, base);
    expect(stdout).toContain(roots["home"]);
  });

  it("is otherwise /var/lib/attestore", async () => {
    const { stdout, stderr } = await doctor({ HOME: join(base, "nowhere"), XDG_STATE_HOME: undefined }, base);
    expect(stdout + stderr).toContain("/var/lib/attestore");
  });

  it.each(["--config", "--state-dir"])("is no longer given by %s", async (option) => {
    const { env, cwd, roots } = everyBranch();
    const { code, stderr } = await doctor(env, cwd, option, roots["flag"] ?? "");
    expect(code).toBe(2);
    expect(stderr).toContain(option);
  });
});

describe("a setting", () => {
  let server: Server;
  let host: Host;

  beforeAll(async () => {
    server = await startServer();
    host = await attachedHost(await createOrganisation(server));
    let yaml = "";
    for (const name of ["by-default", "by-environment", "by-flag"]) {
      const path = join(base, `${name}.db`);
      const file = new DatabaseSync(path);
      file.exec("create table t (n integer); insert into t values (1), (2), (3);");
      file.close();
      yaml += `  ${name}:\n    engine: sqlite\n    path: ${path}\n`;
    }
    host.addSources(`${yaml}defaults:\n  source: by-default\n`);
  });
  afterAll(async () => {
    host.remove();
    await server.remove();
  });

  const backedUp = async (env: Environment, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run("attestore", ["backup", "--json", ...args], {
      ...host.env,
      ...env,
    });
    expect(code, stdout + stderr).toBe(0);
    const made = JSON.parse(stdout) as Record<string, unknown>;
    return String(made["source"] ?? made["slug"]);
  };

  it("comes from the flag, else from the environment, else from defaults in config.yaml", async () => {
    expect(await backedUp({})).toBe("by-default");
    expect(await backedUp({ ATTESTORE_SOURCE: "by-environment" })).toBe("by-environment");
    expect(await backedUp({ ATTESTORE_SOURCE: "by-environment" }, "--source", "by-flag")).toBe("by-flag");
  });

  it("of an unknown source gives an error that says where to look", async () => {
    const { code, stderr } = await host.run("backup", "--source", "typo");
    expect(code).toBe(2);
    expect(stderr).toContain("typo");
    expect(stderr).toContain("config.yaml");
  });

  it("that is misspelt in config.yaml is refused with its place", async () => {
    host.addSources("sauces: {}\n");
    const { code, stderr } = await host.run("backup");
    expect(code).toBe(2);
    expect(stderr).toContain("sauces");
    expect(stderr).toContain("config.yaml");
  });
});
