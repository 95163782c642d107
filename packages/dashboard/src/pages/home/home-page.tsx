import { Group, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { answer, home, type Source } from "../../text/home.ts";
import { AgentsSection } from "./agents-section.tsx";
import { FirstProof } from "./first-proof.tsx";
import { HomeSkeleton } from "./home-skeleton.tsx";
import { LogSection } from "./log-section.tsx";
import { NextStep } from "./next-step.tsx";
import { Onboarding } from "./onboarding.tsx";
import { type DaysShown, overviewQuery } from "../../api/overview.ts";
import { ProofRing } from "./proof-ring.tsx";
import { SourcesSection } from "./sources-section.tsx";
import { type OnboardingState, useOnboarding } from "./use-onboarding.ts";
import { WorstIncident } from "./worst-incident.tsx";
import classes from "./home-page.module.css";

/** What is proven, at a glance. */
export function HomePage() {
  const [days, setDays] = useState<DaysShown>(30);
  const overview = useQuery(overviewQuery(useOrgId(), days));
  const steps = useOnboarding(overview.data);
  useEffect(() => {
    document.title = `${home.title} · Attestore`;
  }, []);
  if (overview.data === undefined && overview.error !== null)
    return (
      <Page title={home.title}>
        <QueryResult query={overview}>{() => null}</QueryResult>
      </Page>
    );
  return (
    <QueryResult query={overview} skeleton={<HomeSkeleton />}>
      {(found) => (
        <Stack gap="lg" maw={1400}>
          <Answer overview={found} />
          <First sources={found.sources} steps={steps} />
          {!isInTrouble(found) && <Next overview={found} steps={steps} />}
          <Worst overview={found} />
          {found.sources.length > 0 && (
            <SourcesSection sources={found.sources} firstDay={found.first_day} days={days} onDays={setDays} />
          )}
          {isInTrouble(found) && <Next overview={found} steps={steps} />}
          {found.agents.length > 0 && (
            <div className={classes["pair"]}>
              <AgentsSection agents={found.agents} />
              <LogSection log={found.log} />
            </div>
          )}
        </Stack>
      )}
    </QueryResult>
  );
}

/** The steps to the first proof and, once they are done, what is worth doing next. */
function Next({ overview, steps }: { overview: Schemas["Overview"]; steps: OnboardingState }) {
  return steps.isShown ? (
    <Onboarding overview={overview} onHide={steps.hide} />
  ) : (
    <NextStep overview={overview} />
  );
}

function First({ sources, steps }: { sources: readonly Source[]; steps: OnboardingState }) {
  const proven = sources.find(({ last_proven_at }) => last_proven_at !== null);
  return steps.isFirstProof && proven && <FirstProof source={proven} onSeen={steps.onSeen} />;
}

/** Failures and missed runs come before any advice. */
function isInTrouble({ sources }: Schemas["Overview"]): boolean {
  return sources.some(({ state }) => state === "failed" || state === "missed");
}

function Worst({ overview: { sources, agents } }: { overview: Schemas["Overview"] }) {
  const [worst] = sources;
  // A source that was never backed up is no incident.
  if (worst === undefined || worst.state === "proven" || worst.state === "none") return null;
  const others = sources.filter(({ state }) => state !== "proven").length - 1;
  const stopped = agents.find(({ id, is_running }) => id === worst.agent_id && !is_running);
  return <WorstIncident key={worst.id} source={worst} others={others} stopped={stopped} />;
}

function Answer({ overview: { sources, agents, now } }: { overview: Schemas["Overview"] }) {
  const { headline, sentence } = answer(sources, new Date(now));
  return (
    <Group gap="lg" wrap="nowrap">
      {sources.length > 0 && <ProofRing sources={sources} />}
      <div>
        <Title order={1} size="h2">
          {headline}
        </Title>
        <Text mt={4}>{sentence ?? (agents.length === 0 ? home.empty.noAgent : home.empty.noSource)}</Text>
      </div>
    </Group>
  );
}
