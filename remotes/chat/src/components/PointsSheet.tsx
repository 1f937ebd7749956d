import { formatPoints } from '@liaozhai/shared/format';
import { Link, paths, toast, useSelector, useUser } from '@liaozhai/shared/runtime';
import { CheckInIcon, GiftIcon, ListRow, Sheet, SupportIcon, WalletIcon } from '@liaozhai/shared/ui';
import { useEffect, useRef } from 'react';
import { rewards, selectLacksPoints } from '../api/purchases';
import { texts } from '../texts';
import type { ChatSheetProps } from './ChatSheet';
import styles from './ChatSheet.module.css';

interface PointsSheetProps extends ChatSheetProps {
  /** 0 if unknown. */
  cost: number;
  refusal?: string;
}

/** Shows how many points are needed and the ways to get them. Closes once the balance suffices, unless the server refused it. */
export function PointsSheet({ sheet, story: { id: storyId }, cost, refusal, onClose }: PointsSheetProps) {
  const user = useUser();
  const lacksPoints = useSelector((state) => selectLacksPoints(state, storyId, cost));
  // the server may have refused what this page's balance would cover: then the sheet stays open
  const didLackPoints = useRef(lacksPoints);
  useEffect(() => {
    if (didLackPoints.current && !lacksPoints && !refusal) {
      toast(texts.points.enough);
      onClose();
    }
    didLackPoints.current = lacksPoints;
  }, [lacksPoints, refusal, onClose]);
  if (!user) return null;
  const balance = cost === 0 || user.balance === undefined ? undefined : formatPoints(user.balance);
  const isContradicted = balance !== undefined && !lacksPoints && refusal !== undefined;
  const { checkIn, invite } = rewards(user);
  const words = texts.points;
  const checkInDetail = checkIn === undefined ? words.checkInOpen : words.checkInFor(formatPoints(checkIn));
  const inviteDetail = invite === undefined ? words.inviteOpen : words.inviteFor(formatPoints(invite));
  const ways = [
    user.checkedInToday
      ? { title: words.checkIn, Icon: CheckInIcon, detail: words.checkInDone }
      : { title: words.checkIn, Icon: CheckInIcon, detail: checkInDetail, to: paths.my() },
    { title: words.invite, Icon: GiftIcon, detail: inviteDetail, to: paths.my() },
    { title: words.recharge, Icon: WalletIcon, to: paths.recharge() },
    ...(isContradicted ? [{ title: words.support, Icon: SupportIcon, to: paths.support() }] : []),
  ];
  return (
    <Sheet open={sheet?.kind === 'points'} onClose={onClose} title={texts.points.title}>
      <p className={styles.about}>
        {balance === undefined
          ? texts.points.aboutPlain
          : isContradicted
            ? texts.points.contradiction(refusal, balance)
            : texts.points.about(formatPoints(cost), balance)}
      </p>
      {ways.map(({ title, Icon, detail, to }) => (
        <ListRow
          key={title}
          title={title}
          icon={<Icon size={20} />}
          detail={detail}
          asLink={to === undefined ? undefined : <Link to={to} onClick={onClose} />}
        />
      ))}
    </Sheet>
  );
}
