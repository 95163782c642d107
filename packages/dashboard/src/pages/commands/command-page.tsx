import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { commandText } from "../../text/commands.ts";
import { sourceListQuery } from "../../api/source-list.ts";
import type { Command } from "./command-state.ts";
import { useAgents } from "../../api/use-agents.ts";
import { CommandResult } from "./command-outcome.tsx";
import { CommandProgress } from "./command-progress.tsx";
import { CommandSteps } from "./command-steps.tsx";
import { Issuer } from "./issuer.tsx";
import { NotTaken } from "./not-taken.tsx";
import { commandQuery } from "./queries.ts";

const text = commandText.page;
const route = getRouteApi("/signed-in/commands/$commandId");

export function CommandPage() {
  const { commandId } = route.useParams();
  const command = useQuery(commandQuery(useOrgId(), commandId));
  return (
    <QueryResult query={command} isPage>
      {(data) => <CommandFrame command={data} />}
    </QueryResult>
  );
}

function CommandFrame({ command }: { command: Command }) {
  const { data: sources } = useQuery(sourceListQuery(useOrgId()));
  const agents = useAgents();
  const source = sources?.find(({ id }) => id === command.source_id);
  // Until the sources have loaded, it is not known whether it was removed.
  const name = source?.name ?? (sources === undefined ? command.source_id : text.removedSource);
  return (
    <Page
      title={text.title(commandText.kinds[command.kind], name)}
      lead={
        <Anchor inherit renderRoot={(props) => <Link to="/commands" {...props} />}>
          {text.back}
        </Anchor>
      }
    >
      <Section title={commandText.steps}>
        <CommandSteps command={command} />
        <CommandProgress command={command} />
        <NotTaken command={command} />
        <div role="status">
          <CommandResult command={command} />
        </div>
      </Section>
      <FactList
        facts={[
          [
            text.source,
            source === undefined ? (
              name
            ) : (
              <RecordLink key="s" id={source.id}>
                {name}
              </RecordLink>
            ),
          ],
          [
            text.agent,
            <RecordLink key="a" id={command.agent_id}>
              {agents.nameOf(command.agent_id)}
            </RecordLink>,
          ],
          [text.by, <Issuer key="i" id={command.issued_by} />],
          ...(command.kind === "restore_test"
            ? [[text.backup, <BackupTested key="b" id={command.params.backup_id} />] as const]
            : []),
          [text.created, <Moment key="c" at={command.created_at} />],
          [text.delivered, <At key="d" at={command.delivered_at} />],
          [text.acked, <At key="k" at={command.acked_at} />],
          ...(command.ended_at === null ? [] : [[text.ended, <At key="e" at={command.ended_at} />] as const]),
          [text.attempts, String(command.attempts)],
          [text.id, command.id],
        ]}
      />
    </Page>
  );
}

function At({ at }: { at: string | null }) {
  return at === null ? <>{text.never}</> : <Moment at={at} />;
}

function BackupTested({ id }: { id: string | undefined }) {
  return id === undefined ? <>{text.newest}</> : <RecordLink id={id} />;
}
