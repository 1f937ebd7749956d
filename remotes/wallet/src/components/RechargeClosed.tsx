import { formatPoints } from '@liaozhai/shared/format';
import { type HostConfig, Link, paths } from '@liaozhai/shared/runtime';
import { Card, CheckInIcon, GiftIcon, InkDrawing, ListRow, SupportIcon } from '@liaozhai/shared/ui';
import { yuan } from '../model';
import { texts } from '../texts';
import styles from './RechargeClosed.module.css';

/** Without a payment provider: says so, shows the prices if there are any, and what gives points today. */
export function RechargeClosed({ packages }: { packages: HostConfig['rechargePackages'] }) {
  const { closed, closedReason, priceList, otherWays, checkIn, checkInDetail, invite, inviteDetail, support } =
    texts.recharge;
  return (
    <>
      <section className={styles.notice} aria-label={closed}>
        <InkDrawing name="moon" />
        <h2 className={styles.heading}>{closed}</h2>
        <p className={styles.reason}>{closedReason}</p>
      </section>
      <section aria-label={otherWays}>
        <h2 className={styles.heading}>{otherWays}</h2>
        <Card flush>
          <ListRow
            icon={<CheckInIcon size={20} />}
            title={checkIn}
            detail={checkInDetail}
            asLink={<Link to={paths.my()} />}
          />
          <ListRow
            icon={<GiftIcon size={20} />}
            title={invite}
            detail={inviteDetail}
            asLink={<Link to={paths.my()} />}
          />
          <ListRow icon={<SupportIcon size={20} />} title={support} asLink={<Link to={paths.support()} />} />
        </Card>
      </section>
      {packages.length > 0 && (
        <section aria-label={priceList}>
          <h2 className={styles.heading}>{priceList}</h2>
          <Card flush>
            {packages.map((offer) => (
              <ListRow
                key={offer.id}
                title={formatPoints(offer.points)}
                detail={offer.label}
                value={texts.recharge.price(yuan(offer.priceCents))}
              />
            ))}
          </Card>
        </section>
      )}
    </>
  );
}
