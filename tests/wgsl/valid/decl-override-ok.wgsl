@id(0) override a: f32;
@id(65535) override b = 1u;
override c: bool = true;
override d = 1.5;
override e: i32;
