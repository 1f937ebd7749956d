import { useState } from 'react';
import {
  Badge,
  Button,
  ChatFilledIcon,
  ChatIcon,
  Chip,
  CloseIcon,
  ContinueIcon,
  FireFilledIcon,
  FireIcon,
  IconButton,
  Seal,
  SendIcon,
  SparkIcon,
  Spinner,
  Tag,
  UserFilledIcon,
  UserIcon,
} from '..';
import { Specimen } from './Specimen';

export function ButtonStates() {
  const [chosen, setChosen] = useState(true);
  return (
    <>
      <Specimen title="Button" inline>
        <Button>开始聊天</Button>
        <Button variant="quiet">先看看</Button>
        <Button variant="danger">删除</Button>
        <Button loading>正在保存</Button>
        <Button disabled>不可用</Button>
        <Button small>小</Button>
        <Button small variant="quiet" asLink={<a href="#gallery">链接</a>}>
          链接
        </Button>
        <Button block icon={<SparkIcon size={20} />}>
          整行
        </Button>
      </Specimen>
      <Specimen title="IconButton" inline>
        <IconButton label="关闭" icon={<CloseIcon size={22} />} />
        <IconButton label="发送" variant="solid" icon={<SendIcon size={20} />} />
        <IconButton label="发送（不可用）" variant="solid" disabled icon={<SendIcon size={20} />} />
        <IconButton label="更多" variant="veil" icon={<SparkIcon size={20} />} />
      </Specimen>
      <Specimen title="Chip · Tag · Badge" inline>
        <Chip icon={<SparkIcon />}>灵感</Chip>
        <Chip icon={<ContinueIcon />}>继续</Chip>
        <Chip selected={chosen} onClick={() => setChosen(!chosen)}>
          志怪
        </Chip>
        <Chip disabled>不可用</Chip>
        <Tag>狐仙</Tag>
        <Tag tone="accent">新</Tag>
        <Tag tone="jade">已签到</Tag>
        <Tag tone="gold">赠送</Tag>
        <Badge count={3} label="3 条未读" />
        <Badge count={120} label="120 条未读" />
      </Specimen>
      <Specimen title="Seal · Spinner · 标签栏图标" inline>
        <Seal size="small" />
        <Seal label="聊斋" />
        <Seal size="large" />
        <Spinner label="正在加载" />
        <FireIcon />
        <FireFilledIcon />
        <ChatIcon />
        <ChatFilledIcon />
        <UserIcon />
        <UserFilledIcon />
      </Specimen>
    </>
  );
}
