import { requestLogin } from '@liaozhai/shared/runtime';
import { Button, Seal } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './GuestCard.module.css';

/** What an account is good for, and the way to one. */
export function GuestCard() {
  return (
    <section className={styles.guest} aria-label={texts.guest.headline}>
      <Seal size="large" />
      <h2 className={styles.headline}>{texts.guest.headline}</h2>
      <p className={styles.promise}>{texts.guest.promise}</p>
      <ul className={styles.benefits}>
        {texts.guest.benefits.map((benefit) => (
          <li key={benefit}>{benefit}</li>
        ))}
      </ul>
      <div className={styles.actions}>
        <Button block onClick={() => void requestLogin('register')}>
          {texts.guest.register}
        </Button>
        <Button block variant="quiet" onClick={() => void requestLogin('login')}>
          {texts.guest.login}
        </Button>
      </div>
    </section>
  );
}
