import { type ApiError, endpoints, paths, signedInSchema, type UserDto } from '@liaozhai/shared/contract';
import {
  emailProblem,
  meantLogin,
  meantPassword,
  missingText,
  PASSWORD_CHARACTERS,
  passwordProblem,
} from '@liaozhai/shared/format';
import {
  hostConfig,
  Link,
  readAs,
  request,
  requestLogin,
  useCapability,
  useSearchParams,
} from '@liaozhai/shared/runtime';
import { Button, PasswordField, TextField, useCountdown } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { useNavigation } from '../navigation';
import styles from './AuthPopup.module.css';
import { type Credentials, postLogin, resolvingLostAnswers, signInInstead, welcome } from './signIn';
import { useSubmission } from './submission';
import { texts as authTexts } from './texts';

/** Loaded with this chunk only, not with every login. */
const texts = {
  forgot: {
    how: '填写账号绑定的邮箱，我们把重设密码的链接发给你。',
    email: '邮箱',
    send: '发送链接',
    sent: (email: string) => `如果 ${email} 属于一个账号，链接已经发出，60 分钟内有效。没收到？先看看垃圾邮件。`,
    kept: '密码也许还在：看看注册时的截图，或浏览器保存的密码。',
    withSupport: '没有绑定邮箱？写信给客服，写明用户名和注册的大致时间：',
    withWechat: (wechat: string) => `没有绑定邮箱？在微信上找客服 ${wechat}，说明用户名和注册的大致时间。`,
    withoutSupport: '没有绑定邮箱的账号，密码无法找回。',
    toLogin: '返回登录',
  },
  reset: {
    title: '设置新密码',
    of: (email: string) => `账号邮箱 ${email}`,
    password: '新密码',
    rule: (least: number) => `至少 ${least} 位；设好后，其他设备上的登录会失效。`,
    submit: '保存并登录',
    done: '密码已修改，其他设备已退出登录',
    signIn: '密码已修改，请用新密码登录。',
    toLogin: '去登录',
    badLink: '链接无效或已过期。可以再要一个：',
  },
} as const;

const ANOTHER_MAIL_SECONDS = 60;

/**
 * Requests a reset link by mail if the server sends any, and lists the other options. `login`: what was typed as the username,
 * possibly an email address.
 */
export function ForgotPassword({ login, onReturn }: { login: string; onReturn?: () => void }) {
  const canSendLinks = useCapability('password.reset');
  return (
    <div className={styles.form}>
      {canSendLinks && <LinkForm login={login} />}
      <p className={styles.note}>{texts.forgot.kept}</p>
      <SupportWords />
      {onReturn && (
        <Button variant="quiet" block onClick={onReturn}>
          {texts.forgot.toLogin}
        </Button>
      )}
    </div>
  );
}

function LinkForm({ login }: { login: string }) {
  const words = texts.forgot;
  const [email, setEmail] = useState(login.includes('@') ? login : '');
  const [sentTo, setSentTo] = useState('');
  const { busy, formProps, errors, submit } = useSubmission('');
  const [secondsLeft, startCountdown] = useCountdown(() => 0);
  const address = meantLogin(email);
  const problem = emailProblem(address);
  // another address, such as a corrected one, need not wait
  const isWaiting = secondsLeft > 0 && (sentTo === '' || address === sentTo);
  const send = () =>
    submit(() => request({ method: 'POST', url: endpoints.forgotPassword, body: { email: address } }), {
      problems: { email: problem },
      onSuccess() {
        setSentTo(address);
        startCountdown(ANOTHER_MAIL_SECONDS);
      },
      onFailure: (error) => error.kind === 'tooOften' && startCountdown(error.retryAfterSeconds ?? 0),
    });
  return (
    <form className={styles.form} {...formProps(send)}>
      <p className={styles.text}>{words.how}</p>
      <TextField
        label={words.email}
        name="email"
        type="email"
        value={email}
        error={errors.email}
        autoComplete="email"
        maxLength={120}
        required
        onChange={(event) => setEmail(event.target.value)}
      />
      <p className={styles.note} role="status">
        {sentTo && words.sent(sentTo)}
      </p>
      <Button type="submit" block loading={busy} disabled={isWaiting}>
        {isWaiting ? authTexts.confirmEmail.resendIn(secondsLeft) : words.send}
      </Button>
    </form>
  );
}

/** For accounts without an email address. */
function SupportWords() {
  const { email, wechat } = hostConfig().support;
  const words = texts.forgot;
  if (!email) return <p className={styles.note}>{wechat ? words.withWechat(wechat) : words.withoutSupport}</p>;
  return (
    <p className={styles.note}>
      {words.withSupport}
      <a className={styles.mail} href={`mailto:${email}`}>
        {email}
      </a>
    </p>
  );
}

/** Landing page of the mailed link: saves the new password and signs in with it. */
export default function PasswordResetPage() {
  const [search] = useSearchParams();
  const [token, email] = [search.get('token') ?? '', search.get('email') ?? ''];
  const [state, setState] = useState<'asking' | 'refused' | 'changed'>(token && email ? 'asking' : 'refused');
  const navigation = useNavigation();
  const leave = () => navigation.replace(paths.explore());
  const signIn = async () => {
    if (await requestLogin('login')) leave();
  };
  const onChanged = (user: UserDto | null) => {
    if (!user) return setState('changed');
    welcome(user, texts.reset.done);
    leave();
  };
  return (
    <div className={styles.resetPage}>
      <h1 className={styles.resetTitle}>{texts.reset.title}</h1>
      {state === 'asking' && (
        <NewPassword token={token} email={email} onChanged={onChanged} onRefused={() => setState('refused')} />
      )}
      {state === 'refused' && (
        <>
          <p className={styles.text} role="alert">
            {texts.reset.badLink}
          </p>
          <ForgotPassword login={email} />
        </>
      )}
      {state === 'changed' && (
        <>
          <p className={styles.text} role="status">
            {texts.reset.signIn}
          </p>
          <Button block onClick={signIn}>
            {texts.reset.toLogin}
          </Button>
        </>
      )}
      {state !== 'asking' && (
        <Button variant="quiet" block asLink={<Link to={paths.explore()} replace />}>
          去看故事
        </Button>
      )}
    </div>
  );
}

interface NewPasswordProps {
  token: string;
  email: string;
  /** the signed-in user; null if the password was changed but the sign-in failed */
  onChanged: (user: UserDto | null) => void;
  onRefused: () => void;
}

function NewPassword({ token, email, onChanged, onRefused }: NewPasswordProps) {
  const words = texts.reset;
  const [typedPassword, setTypedPassword] = useState('');
  const password = meantPassword(typedPassword);
  const { busy, formProps, errors, submit } = useSubmission('');
  const [setNewPassword] = useState(() =>
    resolvingLostAnswers(
      (account: Credentials) => postNewPassword(token, account),
      isRefusedLink,
      async (account, refusal) => {
        const signedIn = await signInInstead(account, refusal);
        return signedIn.isPending ? null : signedIn.user;
      },
    ),
  );
  const problem = password === '' ? missingText(words.password) : passwordProblem(password);
  const save = () =>
    submit(() => setNewPassword({ login: email, password }), {
      problems: { password: problem },
      onSuccess: onChanged,
      onFailure: (error) => isRefusedLink(error) && onRefused(),
    });
  return (
    <form className={styles.form} {...formProps(save)}>
      <p className={styles.text}>{words.of(email)}</p>
      {/* password managers need the name the password belongs to */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        label={words.password}
        name="password"
        value={typedPassword}
        error={errors.password}
        hint={words.rule(PASSWORD_CHARACTERS)}
        autoComplete="new-password"
        required
        onChange={(event) => setTypedPassword(event.target.value)}
      />
      <Button type="submit" block loading={busy}>
        {words.submit}
      </Button>
    </form>
  );
}

const isRefusedLink = (error: ApiError): boolean => error.kind === 'invalid' && !error.fields.password;

/** Sets the new password. Laravel's default route does not sign in, so a login follows; null if that fails. */
async function postNewPassword(token: string, { login: email, password }: Credentials): Promise<UserDto | null> {
  const body = { token, email, password, password_confirmation: password };
  const response: unknown = await request({ method: 'POST', url: endpoints.resetPassword, body });
  const loginResponse = readAs(signedInSchema, response);
  return loginResponse?.user ?? postLogin({ login: email, password }).catch(() => null);
}
