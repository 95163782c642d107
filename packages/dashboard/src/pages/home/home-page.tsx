import { Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { Page } from "../../parts/page.tsx";
import { answer, home } from "../../text/home.ts";
import { AgentsSection } from "./agents-section.tsx";
import { LogSection } from "./log-section.tsx";
import { NextStep } from "./next-step.tsx";
import { type DaysShown, overviewQuery } from "./queries.ts";
import { SourcesSection } from "./sources-section.tsx";
import classes from "./home-page.module.css";

/** What is proven, at a glance. */
export function HomePage() {
  const [days, setDays] = useState<DaysShown>(30);
  const overview = useQuery(overviewQuery(useOrgId(), days));
  useEffect(() => {
    document.title = `${home.title} · Attestore`;
  }, []);
  if (overview.data === undefined)
    return (
      <Page title={home.title}>
        <Awaited query={overview}>{() => null}</Awaited>
      </Page>
    );
  return (
    <Awaited query={overview}>
      {(found) => (
        <Stack gap="lg" maw={1400}>
          <Answer overview={found} />
          {!isInTrouble(found) && <NextStep overview={found} />}
          {found.sources.length > 0 && (
            <SourcesSection sources={found.sources} firstDay={found.first_day} days={days} onDays={setDays} />
          )}
          {isInTrouble(found) && <NextStep overview={found} />}
          {found.agents.length > 0 && (
            <div className={classes["pair"]}>
              <AgentsSection agents={found.agents} />
              <LogSection log={found.log} />
            </div>
          )}
        </Stack>
      )}
    </Awaited>
  );
}

/** Failures and missed runs come before any advice. */
function isInTrouble({ sources }: Schemas["Overview"]): boolean {
  return sources.some(({ state }) => state === "failed" || state === "missed");
}

function Answer({ overview: { sources, agents, now } }: { overview: Schemas["Overview"] }) {
  const { headline, details } = answer(sources, new Date(now));
  const [only] =
    sources.length > 0 ? details : [agents.length === 0 ? home.empty.noAgent : home.empty.noSource];
  return (
    <div>
      <Title order={1} size="h2">
        {headline}
      </Title>
      {details.length > 1 ? (
        <ul className={classes["details"]}>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      ) : (
        <Text mt={4}>{only}</Text>
      )}
    </div>
  );
}
