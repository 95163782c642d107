import type { Schemas } from "@attestore/contract/client";
import { useEffect } from "react";
import { useMayManage, useOrgId } from "../../api/session.ts";
import { showToast } from "../../parts/feedback/toasts.ts";
import { onboarding } from "../../text/onboarding.ts";
import { strings } from "../../text/strings.ts";
import { currentStep, stepsDone } from "./onboarding-steps.ts";
import { useRemembered } from "./use-remembered.ts";

export interface OnboardingState {
  isShown: boolean;
  /** Nothing was proven yet when this browser first showed the page, and now something is. */
  isFirstProof: boolean;
  /** Undefined before the first proof: the steps to it stay. */
  hide: (() => void) | undefined;
  onSeen: () => void;
}

/** The steps to the first proof, for owners and admins. This browser remembers what was hidden. */
export function useOnboarding(overview: Schemas["Overview"] | undefined): OnboardingState {
  const orgId = useOrgId();
  const mayManage = useMayManage();
  const [isHidden, setHidden] = useRemembered(`attestore-steps-hidden ${orgId}`);
  const [isAwaited, setAwaited] = useRemembered(`attestore-first-proof-awaited ${orgId}`);
  const done = overview === undefined ? null : stepsDone(overview);
  const isProven = done?.has("prove") === true;
  const mustAwait = mayManage && done !== null && !isProven && !isAwaited;
  useEffect(() => {
    if (mustAwait) setAwaited(true);
  }, [mustAwait, setAwaited]);
  return {
    isShown: mayManage && done !== null && currentStep(done) !== null && !(isProven && isHidden),
    isFirstProof: mayManage && isProven && isAwaited,
    hide: isProven
      ? () => {
          setHidden(true);
          showToast(onboarding.hidden, {
            action: { label: strings.toast.undo, run: () => setHidden(false) },
          });
        }
      : undefined,
    onSeen: () => setAwaited(false),
  };
}
