import type { Command } from "commander";
import {
  approveBootstrap,
  denyBootstrap,
  fingerprintOf,
  reviewBootstrap,
} from "../features/attach/review.ts";
import { type Bootstrap, listPending } from "../features/attach/store.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { plainLine } from "@attestore/proof";
import { listing } from "./outcome.ts";

interface DecideOptions {
  json?: boolean;
  org: string;
}

/**
 * `attestore-server bootstrap list|show|approve|deny`: hosts that ask to attach without an auth
 * key.
 */
export function bootstrapCommand(): Command {
  const list = consoleCommand("list", "List the hosts that wait for approval").action(
    (options: { json?: boolean }) =>
      runInConsole(options, async ({ db }) => {
        const pending = await listPending(db, new Date());
        return {
          json: pending.map((bootstrap) => bootstrapJson(bootstrap)),
          ...listing(
            ["HOSTNAME", "NAME", "PLATFORM", "ADDRESS", "FINGERPRINT", "EXPIRES"],
            pending.map((bootstrap) => [
              bootstrap.hostname,
              bootstrap.name,
              bootstrap.platform,
              bootstrap.address,
              fingerprintOf(bootstrap),
              bootstrap.expires_at.toISOString(),
            ]),
            "No host is waiting.",
          ),
          ...(pending.length === 0
            ? {}
            : {
                next: "attestore-server bootstrap approve CODE --org ORG, with the code shown on the host",
              }),
        };
      }),
  );

  const show = consoleCommand("show", "Show one waiting host, by the code on its screen")
    .argument("<code>", "XXXX-XXXX")
    .action((code: string, options: { json?: boolean }) =>
      runInConsole(options, async ({ db }) => {
        const bootstrap = await reviewBootstrap(db, code);
        return {
          json: bootstrapJson(bootstrap),
          result: description(bootstrap).join("\n"),
          next: `compare the fingerprint with the host's, then: attestore-server bootstrap approve ${code} --org ORG`,
        };
      }),
    );

  const approve = consoleCommand("approve", "Approve a host; compare its fingerprint first")
    .argument("<code>", "XXXX-XXXX, as shown on the host")
    .requiredOption("--org <org>", "id or slug of the organisation that the host joins")
    .action((code: string, options: DecideOptions) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const approved = await console.act("bootstrap approve", async (tx) => ({
          orgId: org.id,
          done: await approveBootstrap(tx, console.sealer, { code, orgId: org.id, decidedBy: "console" }),
        }));
        return {
          json: {
            agent_id: approved.agentId,
            org_id: org.id,
            ...bootstrapJson(approved.bootstrap),
            status: "approved",
          },
          talk: [`Approved for "${org.name}":`, ...description(approved.bootstrap)],
          result: approved.agentId,
          next: `if the host shows another fingerprint: attestore-server agent revoke ${approved.agentId}`,
        };
      }),
    );

  const deny = consoleCommand("deny", "Deny a host")
    .argument("<code>", "XXXX-XXXX, as shown on the host")
    .requiredOption("--org <org>", "id or slug of the organisation that the host was for")
    .action((code: string, options: DecideOptions) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const denied = await console.act("bootstrap deny", async (tx) => ({
          orgId: org.id,
          done: await denyBootstrap(tx, { code, orgId: org.id, decidedBy: "console" }),
        }));
        return {
          json: { org_id: org.id, ...bootstrapJson(denied), status: "denied" },
          talk: ["Denied:", ...description(denied)],
          result: "denied",
          next: "attestore-server bootstrap list",
        };
      }),
    );

  return commandGroup("bootstrap", "Approve or deny hosts that attach without an auth key", [
    list,
    show,
    approve,
    deny,
  ]);
}

function bootstrapJson(bootstrap: Bootstrap): object {
  const { id, name, hostname, platform, agent_version, address, status, created_at, expires_at } = bootstrap;
  return {
    id,
    name,
    hostname,
    platform,
    agent_version,
    address,
    status,
    key_fingerprint: fingerprintOf(bootstrap),
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}

function description(bootstrap: Bootstrap): string[] {
  return [
    `  host         ${plainLine(bootstrap.hostname)}  (named ${plainLine(bootstrap.name)})`,
    `  platform     ${plainLine(bootstrap.platform)}, agent ${plainLine(bootstrap.agent_version)}`,
    `  address      ${bootstrap.address}`,
    `  fingerprint  ${fingerprintOf(bootstrap)}`,
  ];
}
