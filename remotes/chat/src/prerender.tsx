import { Button, EmptyState, Skeleton } from '@liaozhai/shared/ui';
import styles from './pages/ConversationListPage.module.css';
import { texts } from './texts';

/**
 * Prerendered content of 聊过, the same for everyone: the page's loader sets `data-guest`, which chooses either the guest's
 * invitation or the member's skeleton.
 */
export const contents = [
  {
    route: 'conversations',
    element: (
      <>
        <div className={styles.page} data-for="guest">
          <h1 className={styles.title}>{texts.list.title}</h1>
          <EmptyState drawing="moon" text={texts.list.guest} action={<Button>{texts.list.signIn}</Button>} />
        </div>
        <div className={styles.page} data-for="member">
          <div className={styles.head}>
            <h1 className={styles.conversationListTitle}>{texts.list.title}</h1>
          </div>
          <Skeleton shape="coverRow" label={texts.list.loading} />
        </div>
      </>
    ),
  },
];
