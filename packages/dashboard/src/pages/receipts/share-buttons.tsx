import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Icon } from "../../parts/marks/icon.tsx";
import { receipts } from "../../text/receipts.ts";
import { strings } from "../../text/strings.ts";

const text = receipts.certificate;

/**
 * Copies the page's address. It opens only for members of the organisation and its auditors; others
 * get the bundle.
 */
export function ShareButton() {
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <Button
      variant="default"
      leftSection={<Icon name="share" size={16} />}
      onClick={() => clipboard.copy(window.location.href)}
      aria-live="polite"
      title={text.shareHint}
    >
      {clipboard.error !== null ? strings.copy.failed : clipboard.copied ? text.shared : text.share}
    </Button>
  );
}

export function PrintButton() {
  return (
    <Button variant="default" leftSection={<Icon name="print" size={16} />} onClick={() => window.print()}>
      {text.print}
    </Button>
  );
}
