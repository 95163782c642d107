import type { Submissions } from "./submissions/submit-entry.ts";
import type { ArchivedEnvelopes } from "../log/archive/archived-envelopes.ts";
import type { Database } from "../platform/database/schema.ts";
import type { Route } from "../platform/http/route/route.ts";
import type { Clock } from "../platform/clock.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import type { Places } from "../platform/workers/places.ts";
import { withApiDocs } from "./api-docs/routes.ts";
import { apiLogRoutes } from "./api-logs/routes.ts";
import { auditorLinkRoutes } from "./auditor-links/routes.ts";
import { backupReadingRoutes } from "./backups/dashboard-routes.ts";
import { agentKeyRoutes } from "./agents/key-routes.ts";
import { agentRoutes } from "./agents/routes.ts";
import { authKeyRoutes } from "./auth-keys/routes.ts";
import { backupRoutes } from "./backups/routes.ts";
import { attachReviewRoutes } from "./attach/review-routes.ts";
import { attachRoutes } from "./attach/routes.ts";
import type { AttachDeps } from "./attach/attached-answer.ts";
import { type CommandWaitDeps, commandWaitRoutes } from "./command-wait/routes.ts";
import { commandProgressRoutes } from "./commands/progress-routes.ts";
import { commandRoutes } from "./commands/routes.ts";
import { configAnswerRoutes } from "./config-requests/answer-routes.ts";
import { configRequestRoutes } from "./config-requests/routes.ts";
import { eventReadingRoutes } from "./events/dashboard-routes.ts";
import { eventRoutes } from "./events/routes.ts";
import { evidenceRoutes } from "./evidence/routes.ts";
import { heartbeatRoutes, type HeartbeatDeps } from "./heartbeat/routes.ts";
import { logReadingRoutes } from "./log/dashboard-routes.ts";
import { impersonationRoutes } from "./impersonation/routes.ts";
import { logRoutes } from "./log/routes.ts";
import { notificationRoutes } from "./notifications/routes.ts";
import type { NotificationDeps } from "./notifications/channels/deps.ts";
import { receiptReadingRoutes } from "./receipts/dashboard-routes.ts";
import { makersReceiptRoutes } from "./receipts/makers-receipt-routes.ts";
import { orgRoutes } from "./orgs/routes.ts";
import { receiptRoutes } from "./receipts/routes.ts";
import { retentionRoutes } from "./retention/routes.ts";
import { scheduleRoutes } from "./schedules/routes.ts";
import { sourceHistoryRoutes } from "./source-history/history-routes.ts";
import { sourceRoutes } from "./source-settings/routes.ts";
import { sessionRoutes } from "./sign-in/routes.ts";
import { liveRoutes } from "./live/routes.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { passkeyRoutes } from "./passkeys/routes.ts";
import { passkeySignInRoutes } from "./sign-in/passkey-routes.ts";
import type { SignupMode } from "./signup/mode.ts";
import { signupRoutes } from "./signup/routes.ts";
import { quotaRoutes } from "./quotas/routes.ts";
import type { QuotaDefaults } from "./quotas/settings.ts";
import { membershipRoutes } from "./sign-in/membership-routes.ts";
import { inviteUser } from "./users/invite-user.ts";
import { orgsOf } from "./users/memberships.ts";
import { userRoutes } from "./users/routes.ts";

export interface FeatureDeps extends AttachDeps, CommandWaitDeps, HeartbeatDeps, NotificationDeps {
  db: Database;
  sequencer: Submissions;
  objects: ObjectStore;
  envelopes: ArchivedEnvelopes;
  /** Of the whole service. */
  places: Places;
  clock: Clock;
  /** Of the service's own authority; null with a certificate of the user's own. */
  caPem: string | null;
  /** The directory with the files that hosts install. */
  downloads: string;
  /** ATTESTORE_SIGNUP */
  signup: SignupMode;
  /** Whether there is a mail server. */
  hasMail: boolean;
  quotas: QuotaDefaults;
}

/** Every call that the service answers. */
export function featureRoutes(deps: FeatureDeps): Route[] {
  const logHost = deps.signer.identity.host;
  return withApiDocs(
    [
      ...signupRoutes(deps.db, { ...deps, logHost }),
      ...sessionRoutes(deps.db, deps),
      ...passkeySignInRoutes(deps.db, deps),
      ...passkeyRoutes(deps.db, deps),
      ...impersonationRoutes(),
      ...orgRoutes(deps.db, {
        logHost,
        inviteOwner: (tx, org, email) => inviteUser(tx, deps, { org, email, role: "owner", name: null }),
        orgsOf,
      }),
      ...userRoutes(deps),
      ...membershipRoutes(deps.db),
      ...agentRoutes(),
      ...agentKeyRoutes(deps),
      ...authKeyRoutes(deps),
      ...auditorLinkRoutes(deps),
      ...attachReviewRoutes(deps),
      ...attachRoutes(deps.db, deps),
      ...heartbeatRoutes(deps),
      ...commandWaitRoutes(deps),
      ...commandProgressRoutes(deps),
      ...configAnswerRoutes(deps),
      ...backupRoutes(deps),
      ...quotaRoutes(deps),
      ...receiptRoutes(deps),
      ...eventRoutes(deps),
      ...logRoutes(deps),
      ...makersReceiptRoutes(deps),
      ...receiptReadingRoutes(deps),
      ...backupReadingRoutes(deps),
      ...eventReadingRoutes(),
      ...evidenceRoutes(deps),
      ...logReadingRoutes(deps),
      ...apiLogRoutes(),
      ...sourceRoutes(deps),
      ...sourceHistoryRoutes(deps),
      ...scheduleRoutes(deps),
      ...retentionRoutes(deps),
      ...commandRoutes(),
      ...configRequestRoutes(deps),
      ...notificationRoutes(deps),
      ...overviewRoutes(deps),
      ...liveRoutes(deps),
    ],
    deps.publicUrl,
  );
}
