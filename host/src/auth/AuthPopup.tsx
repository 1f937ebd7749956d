import { type LoginMode, paths, session, toast } from '@liaozhai/shared/runtime';
import { Sheet } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
import { useNavigation } from '../navigation/NavigationContext';
import { type AuthForm, type AuthMode, loginForm, openedForm, registerForm } from './authForm';
import { ConfirmEmail } from './ConfirmEmail';
import { CredentialsDialog } from './CredentialsDialog';
import { LoginForm } from './LoginForm';
import { RegisterForm } from './RegisterForm';
import { texts } from './texts';
import { useLogin } from './useLogin';
import { useRegistration } from './useRegistration';

export { CredentialsDialog };

export interface AuthPopupProps {
  open: boolean;
  mode: LoginMode;
  onClose: (signedIn: boolean) => void;
}

const titles: Record<AuthMode, string> = {
  register: texts.register.title,
  login: texts.login.title,
  'confirm-email': texts.confirmEmail.title,
};

/** Login and registration over everything else. Mounted anew for each opening. */
export default function AuthPopup({ open, mode: openedIn, onClose }: AuthPopupProps) {
  const navigation = useNavigation();
  const [form, setForm] = useState(() => openedForm(openedIn));
  const change = (part: Partial<AuthForm>) => setForm((last) => ({ ...last, ...part }));
  const onConfirmationNeeded = () => change({ mode: 'confirm-email', password: '' });
  const registration = useRegistration(form, {
    onConfirmationNeeded,
    onDone() {
      onClose(true);
      if (form.password === form.generatedPassword) suggestNewPassword(() => navigation.push(paths.profile()));
    },
  });
  const login = useLogin(form, { onConfirmationNeeded, onDone: () => onClose(true) });
  const isBusy = registration.busy || login.busy;
  useSignedInElsewhere(open && !isBusy && !registration.uncopied, () => onClose(true));

  const toLogin = () => setForm(loginForm(form.gender));
  const toRegister = () => setForm(registerForm(form.gender));
  const common = { form, onChange: change };
  return (
    <>
      <Sheet open={open} onClose={() => onClose(false)} title={titles[form.mode]} uncloseable={isBusy}>
        {form.mode === 'register' && <RegisterForm {...common} {...registration} onSwitch={toLogin} />}
        {form.mode === 'login' && <LoginForm {...common} {...login} onSwitch={toRegister} />}
        {form.mode === 'confirm-email' && <ConfirmEmail email={form.login} onReturn={toLogin} />}
      </Sheet>
      <CredentialsDialog credentials={registration.uncopied} onCopied={registration.onCopied} />
    </>
  );
}

function suggestNewPassword(goToProfile: () => void) {
  const { text, action } = texts.changePassword;
  toast(text, { action: { label: action, run: goToProfile }, durationMs: 8000 });
}

/** The same visitor may sign in, or confirm the address, in another tab, also while this popup is still being fetched. */
function useSignedInElsewhere(waiting: boolean, onSignedIn: () => void) {
  useEffect(() => {
    if (!waiting) return undefined;
    if (session.current().status === 'member') return void onSignedIn();
    return session.onUserChanged((_, id) => id && onSignedIn());
  }, [waiting, onSignedIn]);
}
