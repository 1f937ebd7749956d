import { formatPoints } from '@liaozhai/shared/format';
import type { HostConfig } from '@liaozhai/shared/runtime';
import clsx from 'clsx';
import { yuan } from '../model';
import { texts } from '../texts';
import styles from './PackageChoice.module.css';

interface PackageChoiceProps {
  packages: HostConfig['rechargePackages'];
  chosenId: string;
  onChoose: (id: string) => void;
}

export function PackageChoice({ packages, chosenId, onChoose }: PackageChoiceProps) {
  return (
    <fieldset>
      <legend className={styles.legend}>{texts.recharge.packages}</legend>
      <div className={styles.offers}>
        {packages.map((offer) => (
          <label key={offer.id} className={clsx(styles.offer, offer.id === chosenId && styles.chosen)}>
            <input
              className={styles.radio}
              type="radio"
              name="package"
              value={offer.id}
              checked={offer.id === chosenId}
              onChange={() => onChoose(offer.id)}
            />
            <span className={styles.ring} />
            <span className={styles.points}>{formatPoints(offer.points)}</span>
            <span className={styles.price}>{texts.recharge.price(yuan(offer.priceCents))}</span>
            {offer.label && <span className={styles.label}>{offer.label}</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
