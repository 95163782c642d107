import { Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useMayManage } from "../../api/session.ts";
import { useHosts } from "../../api/use-hosts.ts";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { addSource as text } from "../../text/add-source.ts";
import { ChooseDatabase, type Chosen } from "./choose-database.tsx";
import { ChooseHost } from "./choose-host.tsx";
import { type Engine, EngineTiles, isFound, isPicked, OnTheHost } from "./engine-tiles.tsx";
import { NameAndSchedule } from "./name-and-schedule.tsx";
import { type Tested, TestConnection } from "./test-connection.tsx";

/** One step after the other; each opens the next, and changing one closes those after it. */
export function AddSourcePage() {
  const mayManage = useMayManage();
  const [engine, setEngine] = useState<Engine | null>(null);
  return (
    <Page title={text.title} lead={text.lead}>
      {mayManage ? (
        <>
          <Section title={text.steps.engine}>
            <EngineTiles value={engine} onChange={setEngine} />
            {engine !== null && !isFound(engine) && <OnTheHost engine={engine} />}
          </Section>
          {engine !== null && isFound(engine) && <FromHost key={engine} engine={engine} />}
        </>
      ) : (
        <Text>{text.onlyManagers}</Text>
      )}
    </Page>
  );
}

function FromHost({ engine }: { engine: Engine }) {
  const [agentId, setAgentId] = useState("");
  const hosts = useHosts();
  const [first, ...others] = hosts.data ?? [];
  const onlyId = others.length === 0 ? first?.id : undefined;
  // Once: another host may attach while somebody is at a later step.
  useEffect(() => {
    if (onlyId !== undefined) setAgentId((chosen) => (chosen === "" ? onlyId : chosen));
  }, [onlyId]);
  const isAllowed = hosts.data?.find(({ id }) => id === agentId)?.remote_config === true;
  return (
    <>
      <Section title={text.steps.host}>
        <ChooseHost hosts={hosts} value={agentId} onChange={setAgentId} />
      </Section>
      {isAllowed && <FromDatabases key={agentId} agentId={agentId} engine={engine} />}
    </>
  );
}

function FromDatabases({ agentId, engine }: { agentId: string; engine: Engine }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <>
      <Section title={isPicked(engine) ? text.steps.file : text.steps.database}>
        <ChooseDatabase agentId={agentId} engine={engine} value={chosen} onChange={setChosen} />
      </Section>
      {chosen !== null && (
        <FromTest key={`${chosen.place} ${chosen.database}`} agentId={agentId} chosen={chosen} />
      )}
    </>
  );
}

function FromTest({ agentId, chosen }: { agentId: string; chosen: Chosen }) {
  const [tested, setTested] = useState<Tested | null>(null);
  const [checks, setChecks] = useState<string[]>([]);
  return (
    <>
      <Section title={text.steps.test}>
        <TestConnection
          agentId={agentId}
          chosen={chosen}
          tested={tested}
          onTested={(found) => {
            setTested(found);
            setChecks(found.source.checks.map(({ id }) => id));
          }}
          checks={checks}
          onChecks={setChecks}
        />
      </Section>
      {tested !== null && (
        <Section title={text.steps.name}>
          <NameAndSchedule
            agentId={agentId}
            tried={tested.tried}
            database={chosen.database}
            checks={checks}
          />
        </Section>
      )}
    </>
  );
}
