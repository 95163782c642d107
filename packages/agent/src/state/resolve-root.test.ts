import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { resolveRoot, resolveRootForInit, type RootSurroundings } from "./resolve-root.ts";

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-root-"));
});
afterEach(() => {
  rmSync(base, { recursive: true });
});

function rootAt(...parts: string[]): string {
  const path = join(base, ...parts);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "config.yaml"), "");
  return path;
}

function surroundings(changes: Partial<RootSurroundings> = {}): RootSurroundings {
  return {
    flag: undefined,
    env: { HOME: join(base, "home") },
    cwd: base,
    uid: 1000,
    systemRoot: join(base, "var"),
    ...changes,
  };
}

it("the root is the first of five places that fits, in their order", () => {
  const all = {
    env: { ATTESTORE_HOME: "/from/env", XDG_STATE_HOME: join(base, "xdg"), HOME: join(base, "home") },
    cwd: join(rootAt("walk"), "deep/er"),
  };
  mkdirSync(all.cwd, { recursive: true });
  rootAt("xdg/attestore");
  rootAt("home/.local/state/attestore");
  rootAt("var");
  const noHome = { XDG_STATE_HOME: all.env.XDG_STATE_HOME, HOME: all.env.HOME };

  expect(resolveRoot(surroundings({ ...all, flag: "rel" }))).toEqual({
    path: join(all.cwd, "rel"),
    branch: "--root",
  });
  expect(resolveRoot(surroundings(all))).toEqual({ path: "/from/env", branch: "ATTESTORE_HOME" });
  expect(resolveRoot(surroundings({ ...all, env: noHome }))).toEqual({
    path: join(base, "walk"),
    branch: "walked up from the current directory",
  });
  expect(resolveRoot(surroundings({ env: noHome }))).toEqual({
    path: join(base, "xdg/attestore"),
    branch: "XDG_STATE_HOME",
  });
  expect(resolveRoot(surroundings())).toEqual({
    path: join(base, "home/.local/state/attestore"),
    branch: "HOME/.local/state",
  });
  expect(resolveRoot(surroundings({ env: {} }))).toEqual({
    path: join(base, "var"),
    branch: "/var/lib/attestore",
  });
});

it("a place without config.yaml is passed over for the next", () => {
  mkdirSync(join(base, "home/.local/state/attestore"), { recursive: true });
  rootAt("var");
  expect(resolveRoot(surroundings()).branch).toBe("/var/lib/attestore");
});

it("the agent ignores an empty ATTESTORE_HOME and a relative XDG_STATE_HOME", () => {
  rootAt("home/.local/state/attestore");
  const env = { ATTESTORE_HOME: "", XDG_STATE_HOME: "xdg", HOME: join(base, "home") };
  expect(resolveRoot(surroundings({ env })).branch).toBe("HOME/.local/state");
});

it("the agent names the places when there is no root", () => {
  expect(() => resolveRoot(surroundings())).toThrow(
    expect.objectContaining({
      code: "root_missing",
      message: expect.stringMatching(/home\/\.local\/state\/attestore, .*var\. Attach this host/),
    }),
  );
});

it("the agent lets init make /var/lib/attestore for the superuser and the state directory for others", () => {
  expect(resolveRootForInit(surroundings({ uid: 0 })).path).toBe(join(base, "var"));
  expect(resolveRootForInit(surroundings()).path).toBe(join(base, "home/.local/state/attestore"));
  rootAt("var");
  expect(resolveRootForInit(surroundings()).path).toBe(join(base, "var"));
});
