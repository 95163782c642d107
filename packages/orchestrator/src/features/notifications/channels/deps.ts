import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../../log/checkpoints/checkpoint-signer.ts";
import type { Database } from "../../../platform/database/schema.ts";
import type { Sealer } from "../../../platform/http/sealer.ts";
import type { Logger } from "../../../platform/logging/logger.ts";
import type { MailTransport } from "../../../platform/mail/mail.ts";
import type { WebhookReach } from "./webhook-url.ts";

/** The dependencies of the calls about channels and deliveries. */
export interface NotificationDeps {
  sealer: Sealer;
  webhookReach: WebhookReach;
}

/** The dependencies of delivering them. */
export interface DeliveringDeps {
  db: Database;
  sealer: Sealer;
  logger: Logger;
  transport: MailTransport;
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
  /** Where links in mails and webhooks lead. */
  publicUrl: string;
  webhooks: WebhookReach & {
    /**
     * Certificates (PEM) of CAs that receivers' certificates may come from, besides the public
     * ones.
     */
    ca?: string | undefined;
  };
}
