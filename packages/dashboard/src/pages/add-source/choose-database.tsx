import { Alert, Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useAgentProgram } from "../../api/served-for-hosts.ts";
import { type ResultOf, useAskAgent } from "../../api/ask-agent.ts";
import { AskFailure } from "../../parts/feedback/ask-failure.tsx";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { WaitingLine } from "../../parts/feedback/waiting-line.tsx";
import { addSource } from "../../text/add-source.ts";
import { visible } from "../../text/visible.ts";
import { type Engine, isPicked } from "./engine-tiles.tsx";

const text = addSource.database;
type Server = ResultOf<"discover">["servers"][number];

export interface Chosen {
  place: string;
  database: string;
}

interface ChooseDatabaseProps {
  agentId: string;
  engine: Engine;
  value: Chosen | null;
  onChange: (chosen: Chosen) => void;
}

/** The databases that the agent finds on its host. */
export function ChooseDatabase({ agentId, engine, value, onChange }: ChooseDatabaseProps) {
  const program = useAgentProgram();
  const discover = useAskAgent(agentId, "discover");
  const user = discover.data?.result.user ?? PACKAGED_USER;
  const servers = discover.data?.result.servers.filter((server) => isOf(server, engine));
  return (
    <Stack>
      <Group>
        <Button variant="default" loading={discover.isPending} onClick={() => discover.mutate({})}>
          {discover.isSuccess ? text.again : isPicked(engine) ? text.lookBelow : text.look}
        </Button>
      </Group>
      {discover.isPending && <WaitingLine>{text.looking}</WaitingLine>}
      {discover.isError && <AskFailure error={discover.error} />}
      {servers?.length === 0 && isPicked(engine) && (
        <>
          <Text role="status">{text.noDirectory}</Text>
          <CommandText text={`${program} remote-config on /srv/data`} label={text.allowLabel} />
        </>
      )}
      {servers?.length === 0 && !isPicked(engine) && (
        <>
          <Text role="status">{text.none(addSource.engines[engine])}</Text>
          <Grant engine={engine} user={user} />
        </>
      )}
      {servers?.map((server) => (
        <ServerDatabases
          key={server.place}
          server={server}
          user={user}
          engine={engine}
          value={value}
          onChange={onChange}
        />
      ))}
    </Stack>
  );
}

/** Nobody knows which of the two a MariaDB's or MySQL's socket is before it answers. */
function isOf({ engine, state }: Server, wanted: Engine): boolean {
  const isUnknown = state !== "ready" && engine === "mariadb" && wanted === "mysql";
  return engine === wanted || isUnknown;
}

function ServerDatabases({
  server,
  user,
  engine,
  value,
  onChange,
}: { server: Server; user: string } & Omit<ChooseDatabaseProps, "agentId">) {
  const label = text[isPicked(engine) ? "below" : "label"](visible(server.label, 300));
  if (server.state !== "ready")
    return (
      <Stack gap="xs">
        <Alert color="orange" variant="light" role="status" title={label}>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {server.state === "refused" ? text.refused : text.noClient} {visible(server.problem ?? "", 1000)}
          </Text>
        </Alert>
        {server.state === "refused" && server.place.startsWith("socket:") && (
          <Grant engine={engine} user={user} />
        )}
      </Stack>
    );
  return (
    <Radio.Group
      label={label}
      value={value?.place === server.place ? value.database : null}
      onChange={(database) => onChange({ place: server.place, database })}
    >
      <Stack gap="xs" mt="xs">
        {server.databases.length === 0 && (
          <Text size="sm">{isPicked(engine) ? text.nothing : text.empty}</Text>
        )}
        {server.databases.map(({ name, source }) => (
          <Radio
            key={name}
            value={name}
            label={engine === "files" && name === "." ? text.whole : visible(name, 300)}
            {...(source === undefined ? {} : { description: text.taken(source) })}
            styles={{ label: { overflowWrap: "anywhere" } }}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** An agent that does not say which account it runs as is an older one. */
const PACKAGED_USER = "attestore";

const MARIADB_RIGHTS = "select, show view, trigger, event, lock tables, process";
/** MySQL shows prepared transactions to nobody else. */
const MYSQL_RIGHTS = `${MARIADB_RIGHTS}, xa_recover_admin`;

/** The contract allows only names that need no quotes in a shell. */
const GRANTS = {
  postgresql: (user: string) =>
    `sudo -u postgres createuser ${user}\nsudo -u postgres psql -c 'grant pg_read_all_data to "${user}"'`,
  mariadb: (user: string) =>
    `create user '${user}'@localhost identified via unix_socket;\ngrant ${MARIADB_RIGHTS} on *.* to '${user}'@localhost;`,
  mysql: (user: string) =>
    `create user '${user}'@localhost identified with auth_socket;\ngrant ${MYSQL_RIGHTS} on *.* to '${user}'@localhost;`,
} as const;

/** What to run on the host so that the account that the agent runs as may read. */
function Grant({ engine, user }: { engine: Engine; user: string }) {
  if (engine !== "postgresql" && engine !== "mariadb" && engine !== "mysql") return null;
  return (
    <div>
      <Text size="sm">{engine === "postgresql" ? text.grantPostgresql : text.grantMariadb}</Text>
      <CommandText text={GRANTS[engine](user)} label={text.grantLabel} />
    </div>
  );
}
