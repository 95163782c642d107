import { Affix, Button } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { useNewer } from "../api/live.ts";
import { home } from "../text/home.ts";

/** Says that the page's lists have newer data. Nothing moves until it is pressed. */
export function NewerNotice() {
  const page = useRouterState({ select: (state) => state.location.pathname });
  const { isNewer, show } = useNewer(page);
  return (
    <Affix withinPortal={false} position={{ bottom: 16, right: 16 }}>
      <div role="status">
        {isNewer && (
          <Button size="xs" onClick={show}>
            {home.live.newer}
          </Button>
        )}
      </div>
    </Affix>
  );
}
