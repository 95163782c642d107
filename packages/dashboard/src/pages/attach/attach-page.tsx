import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useMayManage, useMe } from "../../api/session.ts";
import { Page } from "../../parts/layout/page.tsx";
import { attach as text } from "../../text/attach.ts";
import { ByCode } from "./by-code.tsx";
import { WithKey } from "./with-key.tsx";

const route = getRouteApi("/signed-in/attach");

type Way = "key" | "code";

/** Attaches an agent: with an auth key typed on its host, or by reviewing a waiting host. */
export function AttachPage() {
  const { code } = route.useSearch();
  const mayManage = useMayManage();
  const { org } = useMe();
  const [way, setWay] = useState<Way>(code === undefined && mayManage ? "key" : "code");
  return (
    <Page title={text.title} lead={text.lead}>
      {mayManage && (
        <SegmentedControl
          aria-label={text.ways.label}
          w="fit-content"
          value={way}
          onChange={(value) => setWay(value as Way)}
          data={[
            { value: "key", label: text.ways.key },
            { value: "code", label: text.ways.code },
          ]}
        />
      )}
      {way === "key" && org !== null ? <WithKey orgId={org.id} /> : <ByCode code={code ?? ""} />}
    </Page>
  );
}
