import { Chip, ContinueIcon, SparkIcon } from '@liaozhai/shared/ui';
import { texts } from '../../texts';
import styles from './ReplyChips.module.css';

interface ReplyChipsProps {
  /** Points, where the site names them. */
  prices: { ideas: number | undefined; resume: number | undefined };
  isBusy: boolean;
  canContinue: boolean;
  onIdeas: () => void;
  onContinue: () => void;
}

/** 灵感 and 继续 above the composer, each with what it costs. */
export const ReplyChips = ({ prices, isBusy, canContinue, onIdeas, onContinue }: ReplyChipsProps) => (
  <div className={styles.chips}>
    <Chip icon={<SparkIcon />} disabled={isBusy} onClick={onIdeas}>
      {texts.suggest.label}
      <Price points={prices.ideas} />
    </Chip>
    <Chip icon={<ContinueIcon />} disabled={isBusy || !canContinue} onClick={onContinue}>
      {texts.resume.label}
      <Price points={prices.resume} />
    </Chip>
  </div>
);

const Price = ({ points }: { points: number | undefined }) =>
  points === undefined ? null : <span className={styles.price}>{texts.chat.priceTag(points)}</span>;
