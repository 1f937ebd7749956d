import { prepareToken } from '../client/client';

export type LoginMode = 'register' | 'login';

type Answer = (mode: LoginMode) => Promise<boolean>;

let answer: Answer | null = null;
const waiting = new Set<() => void>();

/** The host's side of `requestLogin`. */
export const authPopup = {
  /** `handler` opens the popup; it resolves to true once signed in, false when closed. Returns the way to stop. */
  onRequest(handler: Answer): () => void {
    answer = handler;
    for (const go of [...waiting]) go();
    return () => {
      if (answer === handler) answer = null;
    };
  },
};

/** Opens the popup; true once signed in, false when closed. */
export async function requestLogin(mode: LoginMode = 'register'): Promise<boolean> {
  // there by the time the form is sent
  void prepareToken();
  // a screen may ask while the popup's owner is still being mounted
  if (!answer)
    await new Promise<void>((resolve) => {
      const go = () => {
        waiting.delete(go);
        resolve();
      };
      waiting.add(go);
    });
  return answer ? answer(mode) : false;
}
