import { Box, Button, Group, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api } from "../api/client.ts";
import { type Me, meQuery } from "../api/session.ts";
import { messageOf } from "../parts/feedback/failure-panel.tsx";
import { dayBefore, dayOf } from "../text/days.ts";
import { formatMoment } from "../text/format.ts";
import { people } from "../text/people.ts";
import classes from "./session-banner.module.css";

/** Whether the session is special, so that every page must say so. */
export function hasBanner({ impersonated_by, auditor_link }: Me): boolean {
  return impersonated_by !== null || auditor_link !== null;
}

/** Part of the fixed header, so it stays visible as long as the session lasts. */
export function SessionBanner({ me }: { me: Me }) {
  if (me.impersonated_by !== null) return <ImpersonationBanner me={me} operator={me.impersonated_by} />;
  if (me.auditor_link !== null) return <ReaderBanner link={me.auditor_link} />;
  return null;
}

function ImpersonationBanner({ me, operator }: { me: Me; operator: NonNullable<Me["impersonated_by"]> }) {
  const client = useQueryClient();
  const router = useRouter();
  const end = useMutation({
    mutationFn: () => api.call("post", "/api/auth/end-impersonate"),
    onSuccess: async () => {
      // Clear everything that the customer's pages loaded.
      client.clear();
      await client.fetchQuery(meQuery);
      await router.navigate({ to: "/operator" });
    },
  });
  return (
    <Banner label={people.banner.label} kind="alarm">
      <Text size="sm" lh={1.3} style={{ overflowWrap: "anywhere" }}>
        <strong>{people.banner.acting(me.user.email)}</strong>{" "}
        {end.isError ? (
          messageOf(end.error)
        ) : (
          <span className={classes["more"] ?? ""}>{people.banner.logged(operator.email)}</span>
        )}
      </Text>
      <Button
        size="compact-sm"
        variant="white"
        color="dark"
        loading={end.isPending}
        onClick={() => end.mutate()}
      >
        {people.banner.end}
      </Button>
    </Banner>
  );
}

function ReaderBanner({ link }: { link: NonNullable<Me["auditor_link"]> }) {
  const at = (moment: string): string => formatMoment(new Date(moment));
  return (
    <Banner label={people.reader.label} kind="note">
      <Text size="sm" lh={1.3}>
        {people.reader.shows(link.name, periodOf(link))}{" "}
        <span className={classes["more"] ?? ""}>{people.reader.until(at(link.expires_at))}</span>
      </Text>
    </Banner>
  );
}

/** The dashboard makes links for whole UTC days; the API also allows other periods. */
function periodOf({ from, to }: NonNullable<Me["auditor_link"]>): string {
  const isOfDays = [from, to].every((moment) => Date.parse(moment) % 86_400_000 === 0);
  return isOfDays
    ? people.reader.days(dayOf(from), dayBefore(to))
    : people.reader.moments(formatMoment(new Date(from)), formatMoment(new Date(to)));
}

function Banner({ label, kind, children }: { label: string; kind: "alarm" | "note"; children: ReactNode }) {
  return (
    <Box component="section" aria-label={label} className={classes["banner"]} data-kind={kind}>
      <Group justify="space-between" gap="xs" wrap="nowrap" h="100%" px="md">
        {children}
      </Group>
    </Box>
  );
}
