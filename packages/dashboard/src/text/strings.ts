/** Every word that the dashboard says. Plain words, and the field's terms where there is one. */
export const strings = {
  navigation: {
    home: "Home",
  },
  shell: {
    service: "Attestore",
    navigation: "Navigation",
    skipToContent: "Skip to the content",
    signOut: "Sign out",
    stillSignedIn: "You are still signed in",
  },
  login: {
    title: "Sign in",
    email: "E-mail address",
    sendCode: "Send me a code",
    explanation: "We send you a code to type in here. It lives 15 minutes.",
    sent: (email: string) => `If ${email} is known here, a code is on its way to it.`,
    code: "Code",
    codeHint: "XXXX-XXXX; upper or lower case, with or without the hyphen",
    verify: "Sign in",
    startOver: "Use another address",
    noAccount: "No account yet?",
    signup: "Sign up",
  },
  signup: {
    title: "Sign up",
    organisation: "Name of your organisation",
    sent: (email: string) => `A code is on its way to ${email}.`,
    explanation: "We send you a code. With it you become the owner of a new organisation.",
    verify: "Create the organisation",
    closedTitle: "Nobody can sign up here",
    closed:
      "Ask the owner of your organisation to invite you, or the operator of this service to make an organisation for you. Then sign in with the address that was invited.",
    haveAccount: "Have an account already?",
    login: "Sign in",
  },
  failure: {
    title: "This did not work",
    offline: "The service does not answer. Is the network there?",
    noService: (status: number) =>
      `Something that is not the service answered, with status ${status}. If a proxy is in between, tell your service's operator.`,
    forbiddenTitle: "Your role does not allow this",
    noOrganisation:
      "This page is about an organisation. Operators see one only by acting as one of its people, and its log tells of it.",
    requestId: (id: string) => `Request ${id}`,
    retry: "Try again",
    defect:
      "This is a defect of Attestore's page, not of your network or your input. Reload the page; if it fails again, tell your service's operator.",
  },
  notFound: {
    title: "There is nothing here",
    explanation: "The address is wrong, or what it named belongs to somebody else.",
    home: "Go home",
  },
  loading: "Loading",
  status: {
    proven: "proven",
    backed_up: "backed up, not proven",
    failed: "failed",
    missed: "missed",
    none: "nothing yet",
  },
  copy: { copy: "Copy", copied: "Copied", failed: "Could not copy" },
  list: { more: "Show more", all: "Show all" },
  dialog: { cancel: "Cancel", close: "Close" },
} as const;
