import * as v from 'valibot';
import { count, id } from './decode.ts';

/** What `GET /v1/wechat/signature?url` answers: the page at that address may use WeChat's JS-SDK. */
export const wechatSignatureSchema = v.pipe(
  v.object({ data: v.object({ app_id: id, timestamp: count, nonce_str: id, signature: id }) }),
  v.transform(({ data }) => ({
    appId: data.app_id,
    timestamp: data.timestamp,
    nonceStr: data.nonce_str,
    signature: data.signature,
  })),
);
