import { Group, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { useMe, useOrgId } from "../../../api/session.ts";
import { FailurePanel } from "../../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../../parts/actions/reasoned-button.tsx";
import { StatusMark } from "../../../parts/marks/status-mark.tsx";
import { formatBytes, formatMoment } from "../../../text/format.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { retentionPreviewQuery, type SourceDetail } from "../queries.ts";

const text = sourceSettingsText.retention.held;

/**
 * Says that retention stopped because the backups changed suddenly, with the button that resumes
 * it.
 */
export function RetentionHeld({ source }: { source: SourceDetail }) {
  const orgID = useOrgId();
  const { role } = useMe().user;
  const client = useQueryClient();
  const { data } = useInfiniteQuery(retentionPreviewQuery(orgID, source.id, {}));
  const resume = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/sources/{sourceID}/retention-resume", {
        path: { orgID, sourceID: source.id },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["orgs", orgID, "sources"] }),
  });
  const held = data?.pages[0]?.held ?? null;
  if (held === null) return null;
  const { since, hold } = held;
  return (
    <div role="status">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <StatusMark status="missed" label="" />
        <Text size="sm">
          {text.since(formatMoment(new Date(since)))}{" "}
          {hold.reason === "count_rose"
            ? text.count(hold.last_day, hold.usual_a_day)
            : text.size(formatBytes(hold.newest_bytes), formatBytes(hold.removed_bytes))}{" "}
          {text.look}
        </Text>
      </Group>
      <ReasonedButton
        size="xs"
        mt="xs"
        variant="default"
        loading={resume.isPending}
        disabledReason={role === "owner" || role === "admin" ? null : text.readOnly}
        onClick={() => resume.mutate()}
      >
        {text.resume}
      </ReasonedButton>
      {resume.isError && <FailurePanel error={resume.error} />}
    </div>
  );
}
