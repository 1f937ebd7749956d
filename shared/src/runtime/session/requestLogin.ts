export type LoginMode = 'register' | 'login';
type Answer = (mode: LoginMode) => Promise<boolean>;

let answer: Answer | null = null;

/** The host answers here with its popup. */
export const authPopup = {
  onRequest(handler: Answer): () => void {
    answer = handler;
    return () => {
      if (answer === handler) answer = null;
    };
  },
};

/** Asks the visitor to sign in. True once they have, false when they close the popup. */
export const requestLogin = (mode: LoginMode = 'register'): Promise<boolean> =>
  answer?.(mode) ?? Promise.resolve(false);
