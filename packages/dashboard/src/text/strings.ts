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
    explanation: "We send you a code. With it you become the owner of a new organisation.",
    verify: "Create the organisation",
    haveAccount: "Have an account already?",
    login: "Sign in",
  },
  failure: {
    title: "This did not work",
    offline: "The service does not answer. Is the network there?",
    forbiddenTitle: "Your role does not allow this",
    requestId: (id: string) => `Request ${id}`,
    retry: "Try again",
    defect: "The page failed. Reload it; if it fails again, tell your service's operator.",
  },
  notFound: {
    title: "There is nothing here",
    explanation: "The address is wrong, or what it named belongs to somebody else.",
    home: "Go home",
  },
  loading: "Loading",
} as const;
