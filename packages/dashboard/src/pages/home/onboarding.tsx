import { Button, Group, Text, VisuallyHidden } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { every } from "../../api/query-client.ts";
import { useAgentProgram, useRunCommand } from "../../api/served-for-hosts.ts";
import { useOrgId } from "../../api/session.ts";
import { useHosts } from "../../api/use-hosts.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { home, type Source } from "../../text/home.ts";
import { onboarding as text } from "../../text/onboarding.ts";
import { sourceText } from "../../text/sources.ts";
import { useQuickTrigger } from "../sources/commands/use-quick-trigger.ts";
import classes from "./onboarding.module.css";
import { currentStep, type Step, STEPS, stepsDone } from "./onboarding-steps.ts";
import { overviewQuery } from "../../api/overview.ts";

/** The service does not announce that an agent runs, or has a recovery kit. */
const EVERY_MS = 3_000;

/** The seven steps from nothing to backups that are proven by themselves; only the next is open. */
export function Onboarding({
  overview,
  onHide,
}: {
  overview: Schemas["Overview"];
  onHide: (() => void) | undefined;
}) {
  useQuery({ ...overviewQuery(useOrgId(), 30), refetchInterval: every(EVERY_MS) });
  const done = stepsDone(overview);
  const current = currentStep(done);
  return (
    <Section title={text.heading(done.size, done.has("prove"))}>
      <ol className={classes["steps"]}>
        {STEPS.map((step, index) => (
          <li
            key={step}
            className={classes["step"]}
            data-state={done.has(step) ? "done" : step === current ? "current" : "ahead"}
            aria-current={step === current ? "step" : undefined}
          >
            <span className={classes["number"]} aria-hidden="true">
              {done.has(step) ? <Icon name="check" size={16} /> : index + 1}
            </span>
            <div className={classes["content"]}>
              <div className={classes["what"]}>
                {text.steps[step].what}
                {done.has(step) && <VisuallyHidden>{text.done}</VisuallyHidden>}
              </div>
              {step === current && (
                <>
                  <Text size="sm">{text.steps[step].why}</Text>
                  <Action step={step} overview={overview} />
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
      {onHide !== undefined && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={onHide}>
            {text.hide}
          </Button>
        </Group>
      )}
    </Section>
  );
}

function Action({ step, overview }: { step: Step; overview: Schemas["Overview"] }): ReactNode {
  const program = useAgentProgram();
  const run = useRunCommand();
  const [source] = overview.sources;
  switch (step) {
    case "attach":
      return (
        <Group>
          <Button renderRoot={(props) => <Link to="/attach" {...props} />}>{text.attach}</Button>
        </Group>
      );
    case "declare":
      return <Declare command={`${program} source add`} />;
    case "run":
      return <CommandText text={run} label={text.command} />;
    case "back_up":
      return source && <Trigger source={source} kind="backup" />;
    case "prove": {
      const backedUp = overview.sources.find(({ last_backup_at }) => last_backup_at !== null);
      return backedUp && <Trigger source={backedUp} kind="restore_test" />;
    }
    case "schedule":
      return (
        source && (
          <Group>
            <Button
              renderRoot={(props) => (
                <Link
                  to="/sources/$sourceId"
                  params={{ sourceId: source.id }}
                  search={{ tab: "settings" }}
                  {...props}
                />
              )}
            >
              {text.schedule(source.name)}
            </Button>
          </Group>
        )
      );
    case "kit":
      return <CommandText text={`${program} ${home.commands.make_recovery_kit}`} label={text.command} />;
  }
}

/** In the browser where a host allows that, or with a command on any. */
function Declare({ command }: { command: string }) {
  const isAllowed = useHosts().data?.some(({ remote_config }) => remote_config) === true;
  const here = (
    <Group>
      <Button
        variant={isAllowed ? "filled" : "default"}
        renderRoot={(props) => <Link to="/sources/add" {...props} />}
      >
        {text.steps.declare.what}
      </Button>
    </Group>
  );
  const onHost = <CommandText text={command} label={text.command} />;
  return (
    <>
      {isAllowed ? here : <Text size="sm">{text.onHost}</Text>}
      {!isAllowed && onHost}
      <Text size="sm">{isAllowed ? text.orOnHost : text.orHere}</Text>
      {isAllowed ? onHost : here}
    </>
  );
}

function Trigger({ source, kind }: { source: Source; kind: "backup" | "restore_test" }) {
  const trigger = useQuickTrigger(source, kind);
  const run = useRunCommand();
  const isRunning = source.running.includes(kind);
  return (
    <>
      <Group gap="sm">
        <ReasonedButton
          disabledReason={trigger.reason}
          loading={trigger.isPending}
          onClick={trigger.start}
          aria-label={`${sourceText.trigger[kind]}: ${source.name}`}
        >
          {sourceText.trigger[kind]}
        </ReasonedButton>
        {isRunning && (
          <Text size="sm">
            {text.underWay}{" "}
            <Link to="/sources/$sourceId" params={{ sourceId: source.id }}>
              {text.follow(source.name)}
            </Link>
          </Text>
        )}
      </Group>
      {source.state === "failed" && (
        <Text size="sm" c="var(--status-failed)">
          {text.wentWrong}
        </Text>
      )}
      {isRunning && (
        <>
          <Text size="sm">{text.mustRun}</Text>
          <CommandText text={run} label={sourceText.trigger.runCommand} />
        </>
      )}
      {trigger.error !== null && <FailurePanel error={trigger.error} />}
    </>
  );
}
