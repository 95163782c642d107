import { Button, Center } from "@mantine/core";
import { strings } from "../../text/strings.ts";

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** Loads a list's next page below it, so that nothing being read moves. */
export function MoreButton({ list }: { list: Paged }) {
  if (!list.hasNextPage) return null;
  return (
    <Center>
      <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {strings.list.more}
      </Button>
    </Center>
  );
}
