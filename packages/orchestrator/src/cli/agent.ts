import type { Command } from "commander";
import { revokeAgent } from "../features/agents/revoke-agent.ts";
import { type Agent, listAgents } from "../features/agents/store.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

/** `attestore-server agent list|revoke` */
export function agentCommand(): Command {
  const list = consoleCommand("list", "List an organisation's agents")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .action((options: { json?: boolean; org: string }) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const agents = await listAgents(console.db, org.id);
        return {
          json: agents.map((agent) => agentJson(agent)),
          ...listing(
            ["ID", "NAME", "HOSTNAME", "VERSION", "STATUS", "LAST SEEN", "FINGERPRINT"],
            agents.map((agent) => [
              agent.id,
              agent.name,
              agent.hostname,
              agent.agent_version,
              agent.status,
              agent.last_seen_at?.toISOString() ?? "never",
              agent.key_fingerprint,
            ]),
            "There is no agent yet.",
          ),
          ...(agents.length === 0 ? { next: `attestore-server auth-key create --org ${org.slug}` } : {}),
        };
      }),
    );

  const revoke = consoleCommand("revoke", "Revoke an agent for good; its record stays")
    .argument("<id>", "agent_…")
    .action((id: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => {
        const agent = await console.act("agent revoke", async (tx) => {
          const done = await revokeAgent(tx, { agentId: id, actorId: "console" });
          return { orgId: done.org_id, done };
        });
        return {
          json: agentJson(agent),
          talk: [`${agent.name} is revoked: its token no longer works. What it signed stays valid.`],
          result: agent.id,
          next: `attestore-server agent list --org ${agent.org_id}`,
        };
      }),
    );

  return commandGroup("agent", "Agents", [list, revoke]);
}

function agentJson(agent: Agent): object {
  const { created_at, last_seen_at, revoked_at, ...rest } = agent;
  return {
    ...rest,
    created_at: created_at.toISOString(),
    last_seen_at: last_seen_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  };
}
