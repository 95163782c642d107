import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Config } from "../../config/config.ts";
import { findAllowed } from "./allowed-files.ts";

const made = realpathSync(mkdtempSync(join(tmpdir(), "attestore-allowed-")));
afterEach(() => rmSync(made, { recursive: true, force: true }));

test.each(["attestore", "..attestore"])(
  "no directory is offered that the agent's own root %j is in",
  async (name) => {
    const root = join(made, "srv", name);
    mkdirSync(join(root, "keys"), { recursive: true });
    mkdirSync(join(made, "srv", "..site"));
    const config = { remoteConfigPaths: [join(made, "srv"), root], sources: new Map() };
    const found = await findAllowed(config as unknown as Config, root);
    const offered = found.flatMap(({ path, found: names }) =>
      [...names.keys()].map((each) => join(path, each)),
    );
    expect(offered).toEqual([join(made, "srv", "..site")]);
  },
);
